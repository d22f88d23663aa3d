"""What Claude's files of memories and projects are read as."""

from datetime import UTC, datetime
from typing import Any

import pytest

from backread.domain import ParsedDocument, ParsedMemory
from ingest.companions import reader_for
from ingest.importers import importer_for
from tests.exports import chatgpt, claude
from tests.ingest.companions.exports import document, memories, project


def remembered(raw: dict[str, Any]) -> list[tuple[str, str]]:
    reader = reader_for(raw)
    assert reader is not None
    return [(each.source, each.text) for each in reader.parse(raw).memories]


def documents(raw: dict[str, Any]) -> list[ParsedDocument]:
    reader = reader_for(raw)
    assert reader is not None
    return list(reader.parse(raw).documents)


def test_the_memory_of_the_person_comes_in_statements_with_their_headings() -> None:
    raw = memories("**Work context**\n\nAda runs a pottery.\n\n- Teaches on Mondays")
    assert remembered(raw) == [
        ("Memory: Work context", "Ada runs a pottery."),
        ("Memory: Work context", "Teaches on Mondays"),
    ]


def test_memories_of_projects_and_files_of_memories_say_where_they_stood() -> None:
    raw = {
        "project_memories": {"project-1": "Uses the Seger formula."},
        "memory_files": [
            {
                "path": "/areas/clay_bodies.md",
                "content": "- [stated] Prefers porcelain",
                "updated_at": "2026-02-02T03:04:05Z",
            }
        ],
    }
    reader = reader_for(raw)
    assert reader is not None
    assert list(reader.parse(raw).memories) == [
        ParsedMemory("Uses the Seger formula.", "Project memory", project_external_id="project-1"),
        ParsedMemory(
            "Prefers porcelain",
            "Memory: areas / clay bodies (stated)",
            datetime(2026, 2, 2, 3, 4, 5, tzinfo=UTC),
        ),
    ]


def test_a_project_gives_its_documents_its_instructions_and_its_description() -> None:
    raw = project(
        document(1, "# Celadon"),
        document(2, "a,b", filename="batches.csv"),
        prompt_template="Be a chemist.",
        description="All our glazes.",
    )
    found = documents(raw)
    assert [(each.kind, each.name, each.text, each.media_type) for each in found] == [
        ("instructions", "Project instructions", "Be a chemist.", "text/markdown"),
        ("description", "Project description", "All our glazes.", "text/markdown"),
        ("document", "note-1.md", "# Celadon", "text/markdown"),
        ("document", "batches.csv", "a,b", "text/csv"),
    ]
    assert {each.project for each in found} == {"Glazes"}
    assert len({each.external_id for each in found}) == 4
    assert found[2].created_at == datetime(2026, 2, 1, 7, 24, tzinfo=UTC)
    assert found[2].updated_at == datetime(2026, 3, 1, tzinfo=UTC)


def test_a_document_without_id_or_name_is_kept() -> None:
    found = documents(project({"content": "one"}, {"content": "two", "filename": "b.txt"}))
    assert [each.text for each in found] == ["one", "two"]
    assert len({each.external_id for each in found}) == 2
    assert all(each.external_id and each.name for each in found)


@pytest.mark.parametrize(
    "raw",
    [
        {"conversations_memory": None, "project_memories": ["x"], "memory_files": {"a": 1}},
        {"memory_files": [{"path": None, "content": 3}, None]},
        {"uuid": "p", "docs": None, "prompt_template": None},
        {"uuid": "p", "docs": [None, 3, {"content": None}], "name": 4, "created_at": "0001-01-01"},
    ],
)
def test_values_of_other_types_than_documented_count_as_absent(raw: dict[str, Any]) -> None:
    reader = reader_for(raw)
    assert reader is not None
    parsed = reader.parse(raw)
    assert [each.text for each in parsed.memories] == []
    assert "".join(each.text for each in parsed.documents) == ""


def test_companions_and_conversations_are_told_apart() -> None:
    companions: list[dict[str, Any]] = [memories(), project(), {"project_memories": {}}]
    assert [importer_for(each) for each in companions] == [None] * 3
    others: list[Any] = [claude(), chatgpt(), [], None, "x", {"uuid": "u", "full_name": "Ada"}]
    assert [reader_for(each) for each in others] == [None] * 6


def test_a_memory_file_of_claude_code_with_a_name_is_one_statement() -> None:
    head = "---\nname: prefers-pytest\nmetadata:\n  type: feedback\n---\n"
    text = f"{head}\nUse pytest.\n\n**Why:** fast."
    raw = {"backread_memory_file": {"path": "-home-ada-kiln/memory/tests.md", "text": text}}
    reader = reader_for(raw)
    assert reader is not None
    assert list(reader.parse(raw).memories) == [
        ParsedMemory(
            "Use pytest.\n\n**Why:** fast.",
            "Project memory: prefers-pytest",
            project_external_id="-home-ada-kiln",
        )
    ]


def test_a_list_of_claude_code_s_memories_is_read_item_by_item_without_mere_pointers() -> None:
    text = "# Kiln\n\n- [Tests](tests.md) — how to test\n- Deploys on Fridays\n"
    raw = {"backread_memory_file": {"path": "C--Users-ada-kiln/memory/MEMORY.md", "text": text}}
    assert remembered(raw) == [("Project memory: MEMORY / Kiln", "Deploys on Fridays")]
