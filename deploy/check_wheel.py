"""Builds the wheel, installs it into an empty environment and starts it from there.

Run by `deploy/test`. Proves what a checkout cannot: that the wheel carries every file it needs,
puts only `backread` into site-packages, and runs outside the source tree.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
STOP_SECONDS = 30
LARGE_CHATS = 300  # of 40 kB: enough that another process reads the file


def run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True)


def build(target: Path) -> Path:
    run(
        sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(ROOT),
        cwd=ROOT,
    )  # fmt: skip
    (wheel,) = target.glob("*.whl")
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    strangers = {top for top in tops if top != "backread" and not top.endswith(".dist-info")}
    if strangers:
        raise SystemExit(f"The wheel would put {sorted(strangers)} into site-packages.")
    return wheel


def install(wheel: Path, environment: Path) -> Path:
    run(sys.executable, "-m", "venv", "--without-pip", str(environment), cwd=ROOT)
    python = environment / "bin" / "python"
    uv = (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python))
    run(*uv, "--no-deps", "--require-hashes", "-r", str(ROOT / "requirements.lock"), cwd=ROOT)
    run(*uv, "--no-deps", str(wheel), cwd=ROOT)
    return environment / "bin" / "backread"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_and_stop(command: Path, elsewhere: Path) -> None:
    port = free_port()
    environment = {**os.environ, "BACKREAD_HOME": str(elsewhere / "home")}
    server = subprocess.Popen(
        [str(command), "up", "--port", str(port)], cwd=elsewhere, env=environment
    )
    try:
        started = time.monotonic()
        while not healthy(port):
            if server.poll() is not None or time.monotonic() - started > START_SECONDS:
                raise SystemExit("The installed wheel did not start.")
            time.sleep(0.1)
        print(f"The installed wheel answered after {time.monotonic() - started:.1f} s.")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(STOP_SECONDS)


def import_large_file(command: Path, elsewhere: Path) -> None:
    """Large files are read by a second process, which has to find the package by itself."""
    environment = {**os.environ, "BACKREAD_HOME": str(elsewhere / "home")}
    export = elsewhere / "chats.jsonl"
    text = "We talked about the greenhouse and its heating. " * 400
    with export.open("w", encoding="utf-8") as lines:
        for number in range(LARGE_CHATS):
            turns = [{"role": "user", "content": f"Chat {number}"}]
            turns += [{"role": "assistant", "content": text}, {"role": "user", "content": text}]
            lines.write(json.dumps({"messages": turns}) + "\n")

    def backread(*arguments: str) -> str:
        call = [str(command), *arguments, "--json"]
        return subprocess.run(
            call, cwd=elsewhere, env=environment, check=True, capture_output=True, text=True
        ).stdout

    backread("user", "add", "ada@example.org", "--owner")
    totals = json.loads(backread("import", str(export)))["totals"]
    if totals["new"] != LARGE_CHATS or totals["failed"]:
        raise SystemExit(f"The installed wheel imported {totals} of {LARGE_CHATS} chats.")
    print(f"The installed wheel imported {LARGE_CHATS} chats.")


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as answer:
            return bool(json.load(answer)["status"] == "ok")
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        wheel = build(base / "dist")
        command = install(wheel, base / "venv")
        start_and_stop(command, base)
        import_large_file(command, base)


main()
