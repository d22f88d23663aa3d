from tests.backread.cli.conftest import Run, answer


def test_folders_and_keys_are_made_listed_and_ended(run: Run) -> None:
    run("user", "add", "ada@example.org", "--owner", "--json")
    made = answer(run("folders", "create", "Research", "--description", "Harbour", "--json"))
    assert answer(run("folders", "list", "--json"))["folders"] == [
        {"id": made["id"], "name": "Research", "records": 0, "generate_embeddings": True}
    ]
    key = answer(
        run("folders", "create-key", "Research", "--for", "Robot", "--read-only", "--json")
    )
    assert key["key"].startswith("brf_")
    assert key["url"].endswith("/mcp/memories")
    (listed,) = answer(run("folders", "keys", made["id"], "--json"))["keys"]
    assert (listed["name"], listed["read_only"], listed["last_used_at"]) == ("Robot", True, None)
    assert key["key"] not in str(listed)
    assert run("folders", "revoke-key", "Research", key["id"], "--json").exit_code == 0
    assert answer(run("folders", "keys", "Research", "--json"))["keys"] == []
    unsure = run("folders", "delete", "Research", "--json")
    assert (unsure.exit_code, answer(unsure)["error"]["code"]) == (1, "invalid_input")
    assert answer(run("folders", "delete", "Research", "--yes", "--json"))["records"] == 0
    missing = run("folders", "keys", "Research", "--json")
    assert (missing.exit_code, answer(missing)["error"]["code"]) == (1, "not_found")


def test_people_read_the_same_in_words(run: Run) -> None:
    run("user", "add", "ada@example.org", "--owner", "--json")
    assert "Made Research" in run("folders", "create", "Research").stdout
    assert "0 records" in run("folders", "list").stdout
    shown = run("folders", "create-key", "Research", "--for", "Robot", "--days", "3")
    assert shown.stdout.startswith("brf_")
    assert "never used" in run("folders", "keys", "Research").stdout
    twice = run("folders", "create", "Research")
    assert twice.exit_code == 1
    assert "another name" in twice.stderr
