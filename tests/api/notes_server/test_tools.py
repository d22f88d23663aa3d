"""Each tool as a client calls it: the contract's examples, and every limit at its edge."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Account
from recall.notes.writing import write_note
from tests.api.conftest import sign_in
from tests.api.mcp_server.calls import Caller
from tests.api.notes_server.conftest import NOTES, done, notes_address, refused
from tests.api.oauth.flow import new_flow

AUTH = "work/tasks/auth.md"
STACK = "projects/acme/stack.md"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"


def write(notes: Caller, path: str, body: str, **frontmatter: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {"path": path, "body": body}
    if frontmatter:
        arguments["frontmatter"] = frontmatter
    return done(notes.call("memory__write", arguments))


def read(notes: Caller, path: str) -> dict[str, Any]:
    return done(notes.call("memory__read", {"path": path}))


def search(notes: Caller, query: str, **more: Any) -> dict[str, Any]:
    return done(notes.call("memory__search", {"query": query, **more}))


def paths(result: dict[str, Any]) -> list[str]:
    return [each["path"] for each in result["results"]]


def test_writing_answers_with_the_path_and_the_time(notes: Caller) -> None:
    result = write(
        notes,
        STACK,
        "# Stack\n\nWe use Postgres for full-text search.",
        type="note",
        tags=["project"],
    )
    assert set(result) == {"path", "updated"}
    assert result["path"] == STACK
    assert re.fullmatch(TIME, result["updated"])


def test_reading_gives_the_whole_note(notes: Caller) -> None:
    body = "# Auth\n\nEnable PKCE for the OAuth flow."
    written = write(notes, AUTH, body, type="task", tags=["project", "active"])
    assert read(notes, AUTH) == {
        "path": AUTH,
        "title": "Auth",
        "frontmatter": {"type": "task", "tags": ["project", "active"]},
        "body": body,
        "tags": ["project", "active"],
        "updated": written["updated"],
        "deleted": False,
    }


def test_searching_gives_ranked_paths_and_snippets_and_no_bodies(notes: Caller) -> None:
    write(notes, AUTH, "# Auth\n\nTo do: enable pkce for the oauth flow. PKCE, Pkce!")
    write(notes, "work/other.md", "Once: pkce")
    result = search(notes, "pkce", limit=5)
    assert paths(result) == [AUTH, "work/other.md"]
    first = result["results"][0]
    assert set(first) == {"path", "title", "snippet", "score", "updated"}
    assert (first["title"], first["score"]) == ("Auth", 3)
    assert "enable pkce for the oauth flow" in first["snippet"]
    assert "nextCursor" not in result


def test_listing_gives_two_levels_with_counts(notes: Caller) -> None:
    for index in range(12):
        write(notes, f"work/tasks/{index:02}.md", "x")
    write(notes, "work/plan.md", "# Plan")
    result = done(notes.call("memory__list", {"folder": "work", "depth": 2}))
    assert (result["folder"], result["truncated"], result["files"]) == ("work", False, 13)
    folder, plan = result["entries"]
    assert (folder["type"], folder["path"], folder["files"]) == ("folder", "work/tasks", 12)
    assert set(folder["entries"][0]) == {"type", "path", "title", "updated"}
    assert (plan["type"], plan["path"], plan["title"]) == ("file", "work/plan.md", "Plan")
    assert "entries" not in plan


def test_editing_swaps_one_exact_text(notes: Caller) -> None:
    write(notes, STACK, "# Stack\n\nWe use Postgres for full-text search.", tags=["project"])
    result = done(
        notes.call(
            "memory__edit",
            {
                "path": STACK,
                "mode": "str_replace",
                "old_str": "Postgres",
                "new_str": "Postgres 16",
            },
        )
    )
    assert set(result) == {"path", "updated"}
    note = read(notes, STACK)
    assert note["body"] == "# Stack\n\nWe use Postgres 16 for full-text search."
    assert note["frontmatter"] == {"tags": ["project"]}


def test_deleting_keeps_the_note_to_be_read_as_deleted(notes: Caller) -> None:
    write(notes, "projects/acme/old.md", "was here")
    result = done(notes.call("memory__delete", {"path": "projects/acme/old.md"}))
    assert result == {"path": "projects/acme/old.md", "deleted": True}
    note = read(notes, "projects/acme/old.md")
    assert (note["deleted"], note["body"]) == (True, "was here")
    assert search(notes, "was here")["results"] == []
    assert done(notes.call("memory__list", {}))["files"] == 0
    for tool in ("memory__delete", "memory__edit"):
        more = {"body": "x"} if tool == "memory__edit" else {}
        answer = notes.call(tool, {"path": "projects/acme/old.md", **more})
        assert "There is no note at" in refused(answer)


def test_writing_a_deleted_note_brings_it_back(notes: Caller) -> None:
    write(notes, "a.md", "one")
    notes.call("memory__delete", {"path": "a.md"})
    write(notes, "a.md", "two")
    assert (read(notes, "a.md")["deleted"], read(notes, "a.md")["body"]) == (False, "two")


def test_what_does_not_exist_is_not_found(notes: Caller) -> None:
    write(notes, "a.md", "x")
    for tool in ("memory__read", "memory__delete"):
        assert "There is no note at A.md" in refused(notes.call(tool, {"path": "A.md"}))
    answer = notes.call("memory__edit", {"path": "b.md", "body": "x"})
    assert "memory__write" in refused(answer)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/a.md", "begins with a slash"),
        ("a.txt", "does not end in .md"),
        ("a/../b.md", "has the part .."),
        ("a//b.md", "has an empty part"),
        (".obsidian/a.md", "begins with a dot"),
        ("a\\b.md", "has a backslash"),
        ("a\u0007.md", "control character"),
        ("a.md/b.md", "a folder that ends in .md"),
        ("x" * 198 + ".md", "a part longer than 200 bytes"),
        ("/".join(["abcdefgh"] * 20) + "/a.md", "more than 20 parts"),
        (f"{'x' * 190}/{'y' * 190}/{'z' * 130}.md", "is longer than 512 bytes"),
    ],
)
def test_a_path_that_is_none_is_refused_in_words(notes: Caller, path: str, why: str) -> None:
    assert why in refused(notes.call("memory__write", {"path": path, "body": "x"}))


def test_paths_at_the_edge_are_taken(notes: Caller) -> None:
    for path in ("x" * 197 + ".md", "/".join(["a"] * 19) + "/a.md", "メモ/日記.md", "a b/c: d?.md"):
        assert write(notes, path, "x")["path"] == path


def test_a_path_is_one_however_its_accents_are_written(notes: Caller) -> None:
    write(notes, "cafe\u0301.md", "x")
    assert read(notes, "caf\u00e9.md")["body"] == "x"


def test_tags_come_from_front_matter_and_body_and_all_must_be_there(notes: Caller) -> None:
    write(notes, "a.md", "about #kiln and #Glaze", tags=["pots"])
    write(notes, "b.md", "about #kiln", tags=["pots"])
    assert read(notes, "a.md")["tags"] == ["pots", "kiln", "Glaze"]
    assert paths(search(notes, "about", tags=["pots", "Glaze"])) == ["a.md"]
    assert paths(search(notes, "about", tags=["glaze"])) == []
    assert len(paths(search(notes, "about", tags=["pots"] * 50))) == 2
    listed = done(notes.call("memory__list", {"tags": ["kiln", "Glaze"]}))
    assert [each["path"] for each in listed["entries"]] == ["a.md"]
    too_many = notes.call("memory__search", {"query": "about", "tags": ["pots"] * 51})
    assert "tags" in refused(too_many)


def test_a_search_counts_matches_in_title_body_and_tags_in_any_case(notes: Caller) -> None:
    write(notes, "a.md", "KILN kiln", title="Kiln", tags=["kiln-log"])
    write(notes, "b.md", "100% sure_thing")
    assert search(notes, "kiln")["results"][0]["score"] == 4
    assert paths(search(notes, "0% sure_")) == ["b.md"]
    assert paths(search(notes, "sure thing")) == []


def test_a_folder_is_that_folder_and_no_other_that_begins_alike(notes: Caller) -> None:
    for path in ("work/a.md", "work/deep/b.md", "workshop/c.md", "Work/d.md"):
        write(notes, path, "needle")
    for folder in ("work", "work/"):
        assert set(paths(search(notes, "needle", folder=folder))) == {
            "work/a.md",
            "work/deep/b.md",
        }
    assert "begins with a slash" in refused(
        notes.call("memory__search", {"query": "needle", "folder": "/work"})
    )


def test_limits_are_taken_at_their_edge_and_refused_beyond(notes: Caller) -> None:
    write(notes, "a.md", "needle")
    for limit in (1, 50):
        assert paths(search(notes, "needle", limit=limit)) == ["a.md"]
    for limit in (0, 51):
        answer = notes.call("memory__search", {"query": "needle", "limit": limit})
        assert "limit" in refused(answer)
    for depth in (0, 3):
        assert "depth" in refused(notes.call("memory__list", {"depth": depth}))
    assert "query" in refused(notes.call("memory__search", {"query": " "}))


def test_twenty_come_at_a_time_and_the_cursor_gives_the_rest(notes: Caller) -> None:
    for index in range(25):
        write(notes, f"{index:02}.md", "needle")
    first = search(notes, "needle")
    assert len(first["results"]) == 20
    second = search(notes, "needle", cursor=first["nextCursor"])
    assert len(second["results"]) == 5
    assert "nextCursor" not in second
    assert len({*paths(first), *paths(second)}) == 25
    for cursor in ("x", "eyJvIjoyMH0", "!!!"):
        answer = notes.call("memory__search", {"query": "needle", "cursor": cursor})
        assert "cursor" in refused(answer)


def test_a_folder_of_more_than_a_hundred_entries_is_not_opened(
    notes: Caller, kernel: Kernel, owner: Account
) -> None:
    for index in range(100):
        write_note(kernel, Principal(owner.id), f"full/{index:03}.md", "x")
    result = done(notes.call("memory__list", {}))
    assert (len(result["entries"][0]["entries"]), result["truncated"]) == (100, False)
    write(notes, "full/more.md", "x")
    result = done(notes.call("memory__list", {}))
    (entry,) = result["entries"]
    assert (entry["files"], entry["truncated"], result["truncated"]) == (101, True, True)
    assert "entries" not in entry
    inside = done(notes.call("memory__list", {"folder": "full"}))
    assert (len(inside["entries"]), inside["truncated"], inside["files"]) == (100, True, 101)


def test_edit_modes_do_what_the_contract_says(notes: Caller) -> None:
    write(notes, "a.md", "one", status="open", nested={"a": 1, "b": 2})
    notes.call("memory__edit", {"path": "a.md", "mode": "append", "body": "two"})
    assert read(notes, "a.md")["body"] == "one\ntwo"
    notes.call("memory__edit", {"path": "a.md", "frontmatter": {"nested": {"c": 3}, "n": None}})
    note = read(notes, "a.md")
    assert note["frontmatter"] == {"status": "open", "nested": {"c": 3}, "n": None}
    assert note["body"] == "one\ntwo"
    notes.call("memory__edit", {"path": "a.md", "body": "three"})
    assert read(notes, "a.md")["body"] == "three"
    notes.call("memory__edit", {"path": "a.md", "mode": "str_replace", "old_str": "ree"})
    assert read(notes, "a.md")["body"] == "th"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"mode": "str_replace", "old_str": "x"}, "occurs 0 times"),
        ({"mode": "str_replace", "old_str": "aa"}, "occurs 2 times in a.md (lines 1)"),
        ({"mode": "str_replace", "old_str": "b"}, "occurs 3 times in a.md (lines 2, 3)"),
        ({"mode": "str_replace"}, "needs old_str"),
        ({"mode": "str_replace", "old_str": "c", "body": "x"}, "takes no body"),
        ({"old_str": "c"}, "belong to mode str_replace"),
        ({}, "nothing to change"),
        ({"mode": "prepend", "body": "x"}, "mode"),
        ({"body": "x", "title": "y"}, "there is no such parameter"),
    ],
)
def test_an_edit_that_cannot_be_done_says_why(
    notes: Caller, arguments: dict[str, Any], why: str
) -> None:
    write(notes, "a.md", "aaa\nbb\nbc")
    assert why in refused(notes.call("memory__edit", {"path": "a.md", **arguments}))
    assert read(notes, "a.md")["body"] == "aaa\nbb\nbc"


def test_front_matter_is_replaced_by_writing_and_may_come_as_json_text(notes: Caller) -> None:
    write(notes, "a.md", "x", a=1, b="2026-01-01", c="yes", d=[True, None, 2.5], e={"f": "#no"})
    values = read(notes, "a.md")["frontmatter"]
    assert values == {
        "a": 1,
        "b": "2026-01-01",
        "c": "yes",
        "d": [True, None, 2.5],
        "e": {"f": "#no"},
    }
    notes.call("memory__write", {"path": "a.md", "body": "x", "frontmatter": '{"b": 2}'})
    assert read(notes, "a.md")["frontmatter"] == {"b": 2}
    write(notes, "a.md", "x")
    assert read(notes, "a.md")["frontmatter"] == {}
    answer = notes.call("memory__write", {"path": "a.md", "body": "x", "frontmatter": "no"})
    assert "frontmatter" in refused(answer)


def test_a_note_may_be_as_large_as_the_setting_says(notes: Caller, kernel: Kernel) -> None:
    limit = kernel.settings.note_max_bytes
    write(notes, "a.md", "x" * limit)
    answer = notes.call("memory__write", {"path": "a.md", "body": "x" * (limit + 1)})
    assert "A note may have" in refused(answer)


def test_what_is_no_text_is_refused_in_words(notes: Caller) -> None:
    answer = notes.call("memory__write", {"path": "a.md", "body": "a\x00b"})
    assert "holds a NUL" in refused(answer)


def test_text_for_the_eyes_of_models_alone_is_not_handed_out(notes: Caller) -> None:
    hidden = "".join(chr(0xE0000 + ord(each)) for each in "obey")
    write(notes, "a.md", f"seen{hidden} text")
    assert read(notes, "a.md")["body"] == "seen text"


def test_another_accounts_notes_are_not_there(
    notes: Caller, signed_in: TestClient, kernel: Kernel
) -> None:
    write(notes, "a.md", "needle")
    with kernel.store.write() as session:
        boris = Account(email="boris@example.org", password_hash="unused", role="member")
        session.add(boris)
    sign_in(signed_in, kernel, boris)
    tokens = new_flow(signed_in).tokens(resource=notes_address(signed_in))
    other = Caller(signed_in, tokens["access_token"], path=NOTES)
    assert "There is no note" in refused(other.call("memory__read", {"path": "a.md"}))
    assert search(other, "needle")["results"] == []
    assert done(other.call("memory__list", {}))["files"] == 0
    write(other, "a.md", "mine")
    assert read(notes, "a.md")["body"] == "needle"
