"""The copy of a conversation for people to read."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from ingest.own_archive.writing import ArchiveWriter
from tests.ingest.exports import claude, claude_message, import_files, write


def _artifact(command: str, text: str) -> dict[str, Any]:
    given = {"id": "a", "type": "text/html", "title": "Pond", "command": command, "content": text}
    return {"type": "tool_use", "name": "artifacts", "input": given | {"language": "html"}}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_artifacts_stand_at_the_answer_that_made_them(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    said = {"type": "text", "text": "Here it is.", "citations": []}
    first = claude_message("m1", "assistant", "", content=[_artifact("create", "old"), said])
    last = claude_message("m3", "assistant", "", content=[_artifact("rewrite", "```new```")])
    chat = claude("c", ("A page, please.", first, "Newer.", last))
    import_files(kernel, principal, write(tmp_path / "c.json", [chat]))
    archive = tmp_path / "archive.zip"
    archive.write_bytes(b"".join(ArchiveWriter(kernel, principal).pieces()))
    with zipfile.ZipFile(archive) as opened:
        (name,) = [each for each in opened.namelist() if each.endswith(".md")]
        text = opened.read(name).decode()
    assert "Here it is.\n\n[artifact: Pond, version 1 of 2]\n\n## You" in text
    assert "[artifact: Pond, version 2 of 2]\n\n````html\n```new```\n````" in text
