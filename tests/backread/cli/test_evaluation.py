from datetime import UTC, datetime, timedelta

from backread.cli.context import find_principal, open_kernel
from backread.settings import Settings
from tests.backread.cli.conftest import Run, answer
from tests.recall.chats import Chat, keep

THINGS = ["larch", "copper", "slate", "cork", "basalt", "linen", "amber", "birch", "wax", "felt"]
PLACES = ["Sarn", "Vevey", "Olten", "Bruges", "Torun", "Lund", "Ghent", "Ivrea", "Cuenca", "Tartu"]


def _archive(run: Run) -> None:
    assert run("user", "add", "ada@example.org", "--owner").exit_code == 0
    start = datetime(2023, 1, 10, 9, tzinfo=UTC)
    chats = [
        Chat(
            f"Order {number}",
            [
                f"The workshop in {PLACES[number]} delivers {THINGS[number]} boards on crate "
                f"{number + 40} before the harvest begins.",
                "Good, I will keep that in mind.",
            ],
            start + timedelta(days=40 * number),
        )
        for number in range(10)
    ]
    with open_kernel(Settings()) as kernel:
        keep(kernel, find_principal(kernel, ""), *chats)


def test_recall_is_measured_on_the_own_chats(run: Run) -> None:
    _archive(run)
    shown = run("eval", "--questions", "10")
    assert shown.exit_code == 0, shown.output
    assert "R@10" in shown.stdout
    assert "not found" in shown.stdout
    result = answer(run("eval", "--questions", "10", "--json"))
    assert result["all"]["questions"] == 10
    assert result["dated"]["questions"] == 5
    assert result["all"]["at10"] >= 0.9
    assert result["dated"]["at1"] == 1.0
    assert result["notFound"] == 1.0
    assert 0 < result["millisecondsP50"] <= result["millisecondsP95"]


def test_the_same_seed_gives_the_same_questions(run: Run) -> None:
    _archive(run)
    shares = [
        {name: value for name, value in answer(made).items() if not name.startswith("milli")}
        for made in (run("eval", "--questions", "8", "--seed", "3", "--json") for _ in range(2))
    ]
    assert shares[0] == shares[1]


def test_an_archive_with_too_little_is_refused_in_words(run: Run) -> None:
    assert run("user", "add", "ada@example.org", "--owner").exit_code == 0
    result = run("eval")
    assert result.exit_code == 1
    assert "too little" in result.stderr


def test_a_number_out_of_range_is_refused(run: Run) -> None:
    _archive(run)
    assert run("eval", "--questions", "4").exit_code == 1
    assert run("eval", "--mode", "slow").exit_code == 1
