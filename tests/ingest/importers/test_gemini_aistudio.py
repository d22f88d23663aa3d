from pathlib import Path

import pytest

from backread.domain import MessageKind, Principal, Role
from backread.errors import UnreadableImport
from backread.kernel import Kernel
from ingest.importers.gemini_aistudio import GEMINI_AISTUDIO
from tests.ingest.exports import import_files, write
from tests.ingest.importers.parsing import EXPORTS, beside, line_of, parse_file, parse_json, said


def test_thoughts_and_code_stand_beside_the_answer_they_led_to() -> None:
    (parsed,) = parse_file("gemini_aistudio", "prompt")
    assert parsed.model == "gemini-2.5-pro"
    assert parsed.title == "What is in it?"
    assert said(parsed) == ["user: What is in it?", "assistant: A one."]
    assert beside(parsed) == [
        ("reasoning", "", "Open it."),
        ("tool_call", "python", "print(1)"),
        ("tool_result", "", "1"),
    ]
    system, question, answer, robot = line_of(parsed)
    assert (system.text, system.kind) == ("Be brief.", MessageKind.SYSTEM)
    assert question.attachments[0].name == "a.pdf"
    assert answer.citations[0].url == "https://example.invalid/one"
    assert robot.role is Role.SYSTEM
    assert parsed.news == {"role:robot": 1}
    assert parsed.extra == {"branches": ["xyz"]}


def test_drafts_that_were_not_sent_are_left_out_and_the_id_is_stable() -> None:
    (parsed,) = parse_file("gemini_aistudio", "prompt")
    assert "never sent" not in str(parsed.messages)
    chunk = {"role": "user", "text": "Hi", "createTime": "2025-02-01T08:00:00Z"}
    answer = {"role": "model", "parts": [{"text": "Hel"}, {"text": "lo"}]}
    thought = {"role": "model", "isThought": True, "text": "Hm"}
    (first,) = parse_json({"chunkedPrompt": {"chunks": [chunk]}})
    (grown,) = parse_json({"chunkedPrompt": {"chunks": [chunk, answer, thought]}})
    assert first.external_id == grown.external_id
    assert said(grown) == ["user: Hi", "assistant: Hello"]
    assert grown.messages[-1].kind is MessageKind.REASONING
    with pytest.raises(UnreadableImport):
        GEMINI_AISTUDIO.parse({"chunkedPrompt": {"chunks": []}})


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_files_without_an_ending_are_found_in_a_folder(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "Google AI Studio"
    write(folder / "My prompt", (EXPORTS / "gemini_aistudio" / "prompt").read_bytes())
    write(folder / "picture", b"\x89PNG")
    report = import_files(kernel, principal, folder)
    assert (report.totals.new, report.platforms) == (1, {"gemini_aistudio": 1})
