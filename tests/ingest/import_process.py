"""A process that carries waiting imports out, for tests that kill it: `home database_url`."""

import sys
from pathlib import Path

import ingest.tasks  # noqa: F401 - registers the jobs
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from ingest.accept import RUN_JOB


def main() -> None:
    home, database_url = sys.argv[1:3]
    settings = Settings(home=Path(home), database_url=database_url, embedding_model="hashing")
    kernel = Kernel(settings)
    run_pending(kernel, names=[RUN_JOB])
    kernel.close()


if __name__ == "__main__":
    main()
