"""Loads every module that registers background jobs. Processes that run or send jobs call it, so
that `backread.jobs` need not know who has any."""


def load_jobs() -> None:
    import ingest.tasks  # noqa: F401 - registers its jobs
