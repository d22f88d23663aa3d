"""Imports one ChatGPT export with Backread and with its peers, each by its own command.

    python -m benchmarks.import_peers --megabytes 10 300 \\
        --basic-memory PEERS/bm/bin/basic-memory --mempalace PEERS/mp/bin/mempalace

A peer that is not named is left out. Install each into an environment of its own
(`pip install basic-memory`, Python 3.12 or newer; `pip install mempalace`).

Every system is timed from the same `conversations.json` until the words of its chats can be
searched: Backread's import; basic-memory's import and its search index; mempalace's mining, which
embeds as it reads and has no step without it. Memory is that of all processes together, read 20
times a second. A system that is not done after `--limit` seconds is stopped and said to be so;
its speed is then at most what the whole file would come to in that time.

mempalace embeds with a model that it would fetch from the network. `--chroma-model FOLDER` names
one that is there already (its `onnx` folder).
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.synthetic_archive import Written, write_archive

_MEGABYTE = 1e6
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_BETWEEN_LOOKS_SECONDS = 0.05
_PASSWORD = "correct horse battery staple"


@dataclass(slots=True)
class Usage:
    """What commands took together: seconds on the clock and of the processors, and bytes."""

    wall: float = 0.0
    cpu: float = 0.0
    peak_rss: int = 0
    is_finished: bool = True


class Runner:
    """Runs the commands of one system, in a home of its own, until the limit is used up."""

    def __init__(self, home: Path, limit: float) -> None:
        self.usage = Usage()
        self.home = home
        self._limit = limit
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "BACKREAD_HOME": str(home / "backread"),
            "BACKREAD_LOG_LEVEL": "ERROR",
            "HF_HUB_OFFLINE": "1",
        }

    def prepare(self, *command: str, stdin: str = "") -> None:
        """A command that is not measured. Ends the program when it fails."""
        subprocess.run(
            command, env=self._environment, input=stdin, text=True, check=True, capture_output=True
        )

    def run(self, *command: str) -> None:
        """Measures one command. Does nothing when the limit was reached before."""
        if not self.usage.is_finished:
            return
        log = self.home / "output.log"
        started = time.perf_counter()
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._watch(process, started)
        self.usage.wall += time.perf_counter() - started
        if self.usage.is_finished and process.returncode:
            tail = log.read_text(errors="replace")[-2000:]
            raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{tail}")

    def _watch(self, process: "subprocess.Popen[bytes]", started: float) -> None:
        ticks = 0
        while process.poll() is None:
            rss, seen = _of_group(process.pid)
            self.usage.peak_rss = max(self.usage.peak_rss, rss)
            ticks = max(ticks, seen)
            if self.usage.wall + time.perf_counter() - started > self._limit:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.usage.is_finished = False
                break
            time.sleep(_BETWEEN_LOOKS_SECONDS)
        self.usage.cpu += ticks / _TICKS


def _of_group(group: int) -> tuple[int, int]:
    """Resident bytes and processor ticks of a process group, those of ended children included."""
    rss = ticks = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        if int(fields[2]) == group:
            rss += int(fields[21]) * _PAGE_BYTES
            ticks += sum(int(each) for each in fields[11:15])
    return rss, ticks


def run_backread(runner: Runner, export: Path) -> None:
    backread = str(Path(sys.executable).with_name("backread"))
    runner.prepare(
        backread, "user", "add", "bench@example.org", "--password-stdin", stdin=_PASSWORD
    )
    runner.run(backread, "import", str(export))


def run_basic_memory(runner: Runner, export: Path, program: Path) -> None:
    runner.run(str(program), "import", "chatgpt", str(export))
    runner.run(str(program), "reindex", "--search")


def run_mempalace(runner: Runner, export: Path, program: Path, model: Path) -> None:
    cache = runner.home / ".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx"
    shutil.copytree(model, cache)
    folder = runner.home / "chats"
    folder.mkdir()
    (folder / export.name).hardlink_to(export)
    runner.prepare(str(program), "init", "--yes", "--no-llm", str(folder))
    runner.run(str(program), "mine", "--mode", "convos", "--direct", str(folder))


def write_export(folder: Path, megabytes: int, seed: int) -> tuple[Path, Written]:
    """The bare `conversations.json`, which is what every one of them reads."""
    archive = folder / "export.zip"
    written = write_archive(archive, "chatgpt", megabytes * 10**6, seed=seed)
    with zipfile.ZipFile(archive) as packed:
        path = Path(packed.extract("conversations.json", folder))
    archive.unlink()
    return path, written


def figures_of(system: str, usage: Usage, written: Written) -> dict[str, object]:
    megabytes = written.json_bytes / _MEGABYTE
    return {
        "system": system,
        "json_mb": round(megabytes, 1),
        "messages": written.messages,
        "finished": usage.is_finished,
        "wall_s": round(usage.wall, 1),
        "cpu_s": round(usage.cpu, 1),
        "mb_per_s": round(megabytes / usage.wall, 3),
        "messages_per_s": round(written.messages / usage.wall, 1),
        "peak_rss_mb": round(usage.peak_rss / _MEGABYTE),
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900, help="seconds for one system")
    parser.add_argument("--basic-memory", type=Path)
    parser.add_argument("--mempalace", type=Path)
    parser.add_argument("--chroma-model", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.mempalace and not chosen.chroma_model:
        parser.error("--mempalace needs --chroma-model")
    for megabytes in chosen.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            export, written = write_export(Path(folder), megabytes, chosen.seed)
            for system in ("backread", "basic-memory", "mempalace"):
                if system != "backread" and getattr(chosen, system.replace("-", "_")) is None:
                    continue
                home = Path(folder) / system
                home.mkdir()
                runner = Runner(home, chosen.limit)
                if system == "backread":
                    run_backread(runner, export)
                elif system == "basic-memory":
                    run_basic_memory(runner, export, chosen.basic_memory)
                else:
                    run_mempalace(runner, export, chosen.mempalace, chosen.chroma_model)
                print(json.dumps(figures_of(system, runner.usage, written)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
