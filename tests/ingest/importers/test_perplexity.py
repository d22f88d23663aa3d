from pathlib import Path

import pytest

from backread.domain import Principal
from backread.errors import UnreadableImport
from backread.kernel import Kernel
from ingest.importers.perplexity import PERPLEXITY
from tests.ingest.exports import as_zip, import_files, zip_bytes
from tests.ingest.importers.parsing import EXPORTS, beside, parse_file, parse_json, said


def test_a_saved_thread_is_questions_with_answers_and_sources() -> None:
    (parsed,) = parse_file("perplexity", "thread.json")
    assert (parsed.external_id, parsed.title) == ("p-1", "Cool roofs")
    assert parsed.url == "https://www.perplexity.ai/search/p-1"
    assert said(parsed) == ["user: Do white roofs help?", "assistant: Yes [1]."]
    assert parsed.messages[1].citations[0].title == "Roofs"
    assert parsed.model == "sonar"


def test_entries_of_blocks_are_read_once_each() -> None:
    (parsed,) = parse_file("perplexity", "entries.json")
    assert (parsed.external_id, parsed.title) == ("cool-walls", "Cool walls")
    assert said(parsed) == ["user: Do white walls help?", "assistant: A little."]
    assert beside(parsed) == [("reasoning", "", "Search walls")]
    assert parsed.messages[0].attachments[0].name == "wall.png"
    assert parsed.messages[1].citations[0].url == "https://example.invalid/wall"
    assert parsed.news == {"block:hologram": 1}


def test_very_long_titles_and_missing_ids_are_no_trouble() -> None:
    entries = [{"query_str": "Why?", "blocks": []}]
    (parsed,) = parse_json({"entries": entries, "thread_metadata": {"title": "long " * 1000}})
    assert len(parsed.title) <= 500
    assert parsed.external_id.startswith("first:")
    with pytest.raises(UnreadableImport):
        PERPLEXITY.parse({"entries": []})


def test_threads_without_ids_that_ask_the_same_are_two() -> None:
    first, second = (
        PERPLEXITY.identify({"entries": [{"query_str": "Why?", "answer": answer}]})
        for answer in ("So.", "Thus.")
    )
    assert first != second


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_zips_inside_zips_are_opened(kernel: Kernel, principal: Principal, tmp_path: Path) -> None:
    inner = zip_bytes({"t.json": (EXPORTS / "perplexity" / "thread.json").read_bytes()})
    report = import_files(kernel, principal, as_zip({"page-1.zip": inner}, tmp_path / "all.zip"))
    assert (report.totals.new, report.platforms) == (1, {"perplexity": 1})
