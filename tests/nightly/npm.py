"""Programs from npm for the nightly runs, installed into a folder of their own."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

NODE = "node@22.23.3"


@dataclass(frozen=True)
class NpmFolder:
    """Packages and a Node that is new enough for them, whatever the machine has. Needs npm."""

    path: Path

    def install(self, *packages: str) -> None:
        """Exact versions, as `name@version`. What is there already is kept."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / "package.json").exists():
            self._npm("init", "-y")
        for package in (NODE, *packages):
            name, _, version = package.rpartition("@")
            if not self._has(name, version):
                # With our Node in the path: install scripts of newer packages need it.
                self._npm("install", "--save-exact", "--no-audit", "--no-fund", package)

    def program(self, name: str) -> Path:
        return self.path / "node_modules/.bin" / name

    @property
    def search_path(self) -> str:
        """A PATH on which this folder's programs and Node come first."""
        node = self.path / "node_modules/node/bin"
        return f"{node}:{self.path / 'node_modules/.bin'}:{os.environ['PATH']}"

    def _has(self, name: str, version: str) -> bool:
        manifest = self.path / "node_modules" / name / "package.json"
        return manifest.exists() and f'"version": "{version}"' in manifest.read_text()

    def _npm(self, *arguments: str) -> None:
        environment = {**os.environ, "PATH": self.search_path}
        subprocess.run(
            ["npm", "--loglevel", "error", *arguments],
            cwd=self.path,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
