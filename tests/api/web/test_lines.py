from datetime import UTC, datetime, timedelta

from api.web.lines import ConversationTree
from backread.store.repositories.browsing import MessageNode


def node(
    item: str, parent: str | None, *, shown: bool = True, minute: int | None = None
) -> MessageNode:
    at = None if minute is None else datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    return MessageNode(item, parent, shown, "user", "dialogue", at)


def test_without_a_wish_the_shown_line_is_the_line() -> None:
    tree = ConversationTree([node("a", None), node("b", "a"), node("x", "a", shown=False)])
    assert tree.line() == tree.line("b") == tree.line("unknown") == ["a", "b"]


def test_another_branch_goes_on_to_its_newest_end() -> None:
    tree = ConversationTree(
        [
            node("a", None, minute=0),
            node("b", "a", minute=9),
            node("x", "a", shown=False, minute=1),
            node("y2", "x", shown=False, minute=5),
            node("y1", "x", shown=False, minute=2),
        ]
    )
    assert tree.line("x") == ["a", "x", "y2"]
    assert tree.line("y1") == ["a", "x", "y1"]
    fork = tree.forks(["a", "x", "y1"])
    assert (fork["x"].place, fork["x"].total, fork["x"].next_id) == (1, 2, "b")
    assert (fork["y1"].place, fork["y1"].next_id) == (1, "y2")


def test_messages_without_parents_are_no_branches_of_each_other() -> None:
    tree = ConversationTree([node("a", None), node("b", None), node("c", "gone")])
    assert tree.line() == ["a", "b", "c"]
    assert tree.forks(tree.line()) == {}


def test_two_first_messages_are_branches() -> None:
    tree = ConversationTree([node("a", None), node("x", None, shown=False)])
    assert tree.line("x") == ["x"]
    assert tree.forks(["x"])["x"].previous_id == "a"


def test_parents_that_go_round_in_a_circle_end() -> None:
    tree = ConversationTree(
        [node("a", None), node("x", "y", shown=False), node("y", "x", shown=False)]
    )
    assert set(tree.line("x")) == {"x", "y"}
