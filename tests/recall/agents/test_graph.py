from pathlib import Path

import pytest

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.settings import Settings
from recall.agents.graph import evidence_of, graph_stats, list_edges, list_nodes
from recall.agents.updating import read_all_sessions
from tests.recall.agents.sessions import bring_sessions


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"graph_extraction_enabled": True})


@pytest.fixture
def brought(kernel: Kernel, principal: Principal, tmp_path: Path) -> None:
    bring_sessions(kernel, principal, tmp_path / "sessions")


def test_files_concepts_decisions_people_and_tools_are_counted_once_each(
    kernel: Kernel, principal: Principal, brought: None
) -> None:
    files = {
        each.name: (each.count, each.sessions)
        for each in list_nodes(kernel, principal, kind="file")
    }
    assert files == {
        "src/signer.ts": (4, 2),
        "README.md": (1, 1),
        "src/refresh.ts": (1, 1),
        "plan.md": (1, 1),
    }
    assert {each.name for each in list_nodes(kernel, principal, kind="tool")} == {"npm", "git"}
    assert [each.name for each in list_nodes(kernel, principal, kind="person")] == ["Boris"]
    decisions = {each.name for each in list_nodes(kernel, principal, kind="decision")}
    assert "Let's use jose instead of jsonwebtoken for the JwtSigner." in decisions
    concepts = {each.name for each in list_nodes(kernel, principal, kind="concept")}
    assert {"JwtSigner", "jose", "jsonwebtoken"} <= concepts
    stats = graph_stats(kernel, principal)
    assert stats.nodes_by_type["file"] == 4
    assert stats.total_nodes == sum(stats.nodes_by_type.values())
    assert stats.total_edges == sum(stats.edges_by_type.values())


def test_relations_say_what_replaces_needs_and_concerns_what(
    kernel: Kernel, principal: Principal, brought: None
) -> None:
    edges = {(each.source, each.type, each.target) for each in list_edges(kernel, principal)}
    assert ("jose", "supersedes", "jsonwebtoken") in edges
    assert ("src/signer.ts", "depends_on", "jose") in edges
    decision = "Let's use jose instead of jsonwebtoken for the JwtSigner."
    assert (decision, "references", "JwtSigner") in edges


def test_evidence_leads_to_the_sessions(
    kernel: Kernel, principal: Principal, brought: None
) -> None:
    found = evidence_of(kernel, principal, "file", "src/signer.ts")
    assert len(found) == 2
    assert all(each.message_id for each in found)


def test_reading_again_counts_nothing_twice(
    kernel: Kernel, principal: Principal, brought: None, settings: Settings
) -> None:
    before = graph_stats(kernel, principal)
    kernel.settings = settings.model_copy(update={"graph_extraction_enabled": False})
    read_all_sessions(kernel, principal.account_id)
    off = graph_stats(kernel, principal)
    assert (off.total_nodes, off.total_edges) == (0, 0)
    with pytest.raises(InvalidInput, match="turned off"):
        list_nodes(kernel, principal)
    kernel.settings = settings
    read_all_sessions(kernel, principal.account_id)
    assert graph_stats(kernel, principal) == before


def test_opposite_rules_contradict_each_other(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    from tests.ingest.exports import import_files
    from tests.recall.agents.sessions import said, session_file

    file = session_file(
        tmp_path,
        "s",
        "/home/ada/loom",
        0,
        said("Always squash commits before merging branches."),
        said("Never squash commits before merging branches."),
    )
    import_files(kernel, principal, file)
    read_all_sessions(kernel, principal.account_id)
    (edge,) = list_edges(kernel, principal, relation="contradicts")
    assert edge.source.startswith("Never squash")
    assert edge.target.startswith("Always squash")


def test_the_graph_of_somebody_else_is_not_seen(
    kernel: Kernel, principal: Principal, stranger: Principal, brought: None
) -> None:
    assert graph_stats(kernel, stranger).total_nodes == 0
    assert list_nodes(kernel, stranger) == []
    assert evidence_of(kernel, stranger, "file", "src/signer.ts") == []
    with pytest.raises(InvalidInput, match="One of"):
        list_nodes(kernel, principal, kind="colour")
