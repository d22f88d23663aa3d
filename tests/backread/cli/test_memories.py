"""`backread memories` as a person types it."""

from tests.backread.cli.conftest import Run, answer


def test_a_memory_is_added_listed_forgotten_and_brought_back(run: Run) -> None:
    run("migrate")
    run("user", "add", "ada@example.org", "--password-stdin", input="correct horse battery\n")
    assert run("memories", "list").stdout == "No memories.\n"
    stored = answer(run("memories", "add", "Ada lives in Zurich.", "--json"))
    newer = run("memories", "add", "Ada lives in Lisbon.", "--supersedes", stored["memoryId"])
    assert "takes the place of" in newer.stdout
    listed = answer(run("memories", "list", "--json"))["memories"]
    assert [each["text"] for each in listed] == ["Ada lives in Lisbon."]
    assert "(former)" in run("memories", "list", "Zurich").stdout
    gone = run("memories", "forget", listed[0]["memoryId"])
    assert "Deleted 1 memory" in gone.stdout
    undo_id = gone.stdout.split()[-1]
    assert run("memories", "list").stdout == "No memories.\n"
    assert "Brought back 1 memory" in run("memories", "undo", undo_id).stdout
    missing = run("memories", "forget", "0" * 26)
    assert missing.exit_code == 1
    assert "no memory with the id" in missing.output
