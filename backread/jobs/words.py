"""What each job is called in front of people, what it counts, and whether they may stop it."""

from collections.abc import Mapping
from dataclasses import dataclass

BYTES = "byte"


@dataclass(frozen=True, slots=True)
class JobWords:
    """`unit` is what progress counts, in the singular; empty where there is nothing to count.
    `can_stop`: it belongs to a person, and stays stopped. `can_pause`: it takes long, and can be
    held back without anything being wrong meanwhile."""

    label: str
    unit: str = ""
    can_stop: bool = False
    can_pause: bool = False


WORDS: Mapping[str, JobWords] = {
    "ingest.run_import": JobWords("Import", BYTES, can_stop=True),
    "ingest.read_again": JobWords(
        "Reading conversations again", "conversation", can_stop=True, can_pause=True
    ),
    "ingest.read_file": JobWords("Reading an uploaded file", "page", can_stop=True),
    "ingest.read_project_documents": JobWords(
        "Reading documents of projects", "document", can_pause=True
    ),
    "ingest.embed_passages": JobWords(
        "Search by meaning: conversations", "passage", can_pause=True
    ),
    "ingest.embed_memories": JobWords("Search by meaning: memories", "memory", can_pause=True),
    "ingest.embed_files": JobWords("Search by meaning: files", "passage", can_pause=True),
    "ingest.embed_notes": JobWords("Search by meaning: notes", "note", can_pause=True),
    "ingest.embed_records": JobWords("Search by meaning: records", "record", can_pause=True),
    "ingest.change_models": JobWords("Change of the embedding model", "text"),
    "ingest.catch_up": JobWords("Looking for what is out of date"),
    "ingest.erase_account": JobWords("Erasing an account", "conversation"),
    "ingest.tidy_uploads": JobWords("Clearing old uploads away"),
    "backread.scrub_database": JobWords("Clearing traces of what was deleted"),
    "recall.summarise_conversations": JobWords(
        "Summaries", "conversation", can_stop=True, can_pause=True
    ),
    "recall.categorise_bucket": JobWords("Sorting memories into categories", "memory"),
    "recall.derive_records": JobWords("Parts and facts of records", "record", can_pause=True),
    "recall.read_agent_sessions": JobWords("Reading agents’ sessions", "session", can_pause=True),
    "recall.refresh_overview": JobWords(
        "Overview of the chat history", "conversation", can_pause=True
    ),
}


def words_of(name: str) -> JobWords:
    """A job without an entry is called by its name, made readable."""
    known = WORDS.get(name)
    return known or JobWords(name.rpartition(".")[2].replace("_", " ").capitalize(), "step")
