"""Loads every module that registers background jobs. Processes that run or send jobs call it, so
that `backread.jobs` need not know who has any."""


def load_jobs() -> None:
    import ingest.tasks  # noqa: F401 - registers its jobs
    import recall.agents.updating  # registers its job and upkeep
    import recall.categories.updating  # registers its job and upkeep
    import recall.exporting  # registers its upkeep
    import recall.folders.deriving  # registers its job and upkeep
    import recall.memories.forgetting  # registers its upkeep
    import recall.overview.updating  # registers its job and upkeep
    import recall.summarising.making  # noqa: F401 - registers its job and upkeep
