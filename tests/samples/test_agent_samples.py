"""What is read out of published sample sessions of coding agents. The counts were taken from the
tool calls in the files by hand."""

import os
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import AgentSession
from recall.agents.projects import list_projects, project_profile
from recall.agents.updating import read_all_sessions
from tests.ingest.exports import import_files

_FOLDER = os.environ.get("BACKREAD_TEST_SAMPLES", "")
SAMPLES = Path(_FOLDER) if _FOLDER else Path("no-samples")

pytestmark = [
    pytest.mark.samples,
    pytest.mark.skipif(not _FOLDER, reason="BACKREAD_TEST_SAMPLES is not set"),
    pytest.mark.parametrize("database", ["sqlite"], indirect=True),
]

SESSIONS: dict[str, dict[str, Any]] = {
    # Write and two edits of the one file, an edit of the other; two runs of the tests, two
    # commits, one push. Looking for files and planning is no reading.
    "claude_code/simonw_sample_session.json": {
        "writes": {"/project/math_utils.py": 3, "/project/tests/test_math.py": 1},
        "commands": {"python -m pytest": 2, "git add": 2, "git commit": 2, "git push": 1},
    },
    "claude_code/claudecodelog_representative_messages.jsonl": {
        "writes": {"decorator_example.py": 1},
        "commands": {"python": 1},
    },
    "codex/agentsview_fc_args_2.jsonl": {
        "writes": {"internal/parser/codex.go": 1, "internal/parser/parser_test.go": 1},
    },
    "codex/derived_rollout_0148.jsonl": {"commands": {"git mv": 1}},
    "cursor/agentsessions_test-session.jsonl": {"commands": {"ls": 1, "git status": 1}},
    "gemini_cli/agentsview_tool_calls.json": {"reads": {"main.go": 1}},
    "copilot_cli/agentsessions_small.jsonl": {"commands": {"ls": 1}},
    # The edit is a group of its own in the answer; the reading names no path.
    "vscode_copilot/derived_chatSession_v3.json": {"writes": {"/src/retry.go": 1}},
}


@pytest.mark.parametrize("path", SESSIONS)
def test_files_and_commands_of_a_session_are_those_of_its_tool_calls(
    kernel: Kernel, principal: Principal, path: str
) -> None:
    import_files(kernel, principal, SAMPLES / path)
    read_all_sessions(kernel, principal.account_id)
    with kernel.store.read() as session:
        (row,) = session.scalars(select(AgentSession))
    counted = {key: row.body[key] for key in ("reads", "writes", "commands")}
    assert counted == {"reads": {}, "writes": {}, "commands": {}} | SESSIONS[path]


def test_sessions_are_counted_by_project_and_subagents_are_none(
    kernel: Kernel, principal: Principal
) -> None:
    import_files(kernel, principal, SAMPLES / "claude_code", SAMPLES / "codex")
    read_all_sessions(kernel, principal.account_id)
    counted = {each.path: each.sessions for each in list_projects(kernel, principal)}
    assert counted == {
        "/Users/alice/code/app": 1,
        "/Users/alice/code/my-api": 1,
        "/Users/alice/code/my-app": 2,
        "/home/u/proj/lighthouse": 1,
        "/path/to/Demo": 1,
        "/project": 1,
        "/tmp": 5,
        "/tmp/agentsview-quote": 1,
        "/tmp/large": 1,
    }
    demo = project_profile(kernel, principal, "Demo")
    assert (demo.session_count, len(demo.session_ids)) == (1, 1)
