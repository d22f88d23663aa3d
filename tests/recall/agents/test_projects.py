from pathlib import Path

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import AgentSession, Conversation
from recall.agents.projects import list_projects, project_profile, recent_sessions
from recall.agents.state import memory_status
from recall.agents.updating import read_sessions
from tests.ingest.exports import import_files
from tests.recall.agents.sessions import bring_sessions, done, loom_sessions, said, session_file


@pytest.fixture
def brought(kernel: Kernel, principal: Principal, tmp_path: Path) -> Path:
    bring_sessions(kernel, principal, tmp_path / "sessions")
    return tmp_path / "sessions"


def test_a_profile_counts_files_commands_and_conventions_as_the_sessions_have_them(
    kernel: Kernel, principal: Principal, brought: Path
) -> None:
    profile = project_profile(kernel, principal, "loom")
    assert (profile.session_count, profile.paths) == (2, ["/home/ada/loom"])
    accessed = {each.name: (each.count, each.sessions) for each in profile.most_accessed_files}
    assert accessed == {"src/signer.ts": (4, 2), "README.md": (1, 1), "src/refresh.ts": (1, 1)}
    modified = [(each.name, each.count) for each in profile.most_modified_files]
    assert modified == [("src/signer.ts", 2), ("src/refresh.ts", 1)]
    assert profile.top_concepts[0].name == "JwtSigner"
    (tests, *_) = profile.conventions
    assert tests.text.startswith("Always run the tests before committing")
    assert tests.evidence_count == 2
    assert len({each.session_id for each in tests.evidence}) == 2
    assert [each.text for each in profile.decisions] == [
        "Let's use jose instead of jsonwebtoken for the JwtSigner."
    ]
    assert [(each.kind, each.text, each.count) for each in profile.patterns] == [
        ("command", "npm test", 2)
    ]


def test_each_piece_of_evidence_leads_to_the_message_that_says_it(
    kernel: Kernel, principal: Principal, brought: Path
) -> None:
    from backread.store.models import Message

    profile = project_profile(kernel, principal, "loom")
    with kernel.store.read() as session:
        for statement in [*profile.conventions, *profile.decisions]:
            for each in statement.evidence:
                message = session.get(Message, each.message_id)
                assert message is not None
                assert message.conversation_id == each.session_id
                assert statement.text.split()[1].strip("`") in message.text.replace("`", "")


def test_a_project_is_known_by_its_directory_and_by_its_path(
    kernel: Kernel, principal: Principal, brought: Path
) -> None:
    assert project_profile(kernel, principal, "/home/ada/loom").session_count == 2
    assert project_profile(kernel, principal, "/home/ada/loom/").session_count == 2
    names = [(each.name, each.sessions) for each in list_projects(kernel, principal)]
    assert names == [("kiln", 1), ("loom", 2)]
    nothing = project_profile(kernel, principal, "unknown")
    assert (nothing.session_count, nothing.session_ids, nothing.top_concepts) == (0, [], [])
    assert recent_sessions(kernel, principal, "unknown") == []


def test_nothing_of_another_project_or_account_is_shown(
    kernel: Kernel, principal: Principal, stranger: Principal, brought: Path
) -> None:
    assert "plan.md" not in project_profile(kernel, principal, "loom").model_dump_json()
    assert project_profile(kernel, stranger, "loom").session_count == 0
    assert list_projects(kernel, stranger) == []
    assert memory_status(kernel, stranger).health_status == "no-data"


def test_recent_sessions_come_newest_first_five_at_most(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    for day in range(7):
        file = session_file(
            tmp_path,
            f"s-{day}",
            "/home/ada/loom",
            day,
            said(f"Please mend the shuttle number {day} of the old loom."),
            done(f"Shuttle number {day} was mended with new brass screws."),
        )
        import_files(kernel, principal, file)
    while read_sessions(kernel, principal.account_id):
        pass
    recent = recent_sessions(kernel, principal, "loom")
    assert [
        f"number {day}" in each.summary for day, each in zip(range(6, 1, -1), recent, strict=True)
    ] == [True] * 5
    moments = [each.created_at for each in recent]
    assert moments == sorted(moments, reverse=True)  # type: ignore[type-var]


def test_a_session_that_grew_is_read_again_and_one_that_is_gone_leaves_nothing(
    kernel: Kernel, principal: Principal, brought: Path
) -> None:
    first = loom_sessions(brought)[0]
    import json

    lines = [json.loads(line) for line in first.read_text("utf-8").splitlines()]
    last = lines[-1]
    lines.append(
        last
        | {
            "parentUuid": last["uuid"],
            "uuid": "later",
            "message": {
                "id": "msg-later",
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "t",
                        "name": "Write",
                        "input": {"file_path": "/home/ada/loom/new.ts", "content": ""},
                    }
                ],
            },
        }
    )
    first.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    import_files(kernel, principal, first)
    assert read_sessions(kernel, principal.account_id) == 1
    assert read_sessions(kernel, principal.account_id) == 0
    files = [each.name for each in project_profile(kernel, principal, "loom").most_modified_files]
    assert "new.ts" in files
    with kernel.store.write() as session:
        for row in session.scalars(select(Conversation)):
            session.delete(row)
    with kernel.store.read() as session:
        assert session.scalars(select(AgentSession)).all() == []
    assert project_profile(kernel, principal, "loom").session_count == 0
