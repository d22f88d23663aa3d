"""The command line. `main()` is the console script; each subcommand imports what it needs when it
runs, so that `--help` and the desktop agent stay quick."""

import sys
from pathlib import Path

# In the wheel the short-named packages (api, ingest, recall …) live inside ours, so that
# site-packages receives `backread` and nothing else; putting their folder first lets our own
# processes, and only these, import them by their short names.
_BUNDLED = Path(__file__).resolve().parents[1] / "_bundled"
if _BUNDLED.is_dir():
    sys.path.insert(0, str(_BUNDLED))


def main() -> None:
    """Runs the command that `sys.argv` names and exits with its code."""
    from backread.cli.app import app

    app(prog_name="backread")
