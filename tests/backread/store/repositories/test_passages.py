"""Replacing passages keeps what did not change, and forgets the rest everywhere."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, text

from backread.domain import Principal
from backread.store.engine import Store
from backread.store.fulltext import WordQuery, fold, words
from backread.store.models import Conversation, Passage
from backread.store.repositories.indexed import (
    PASSAGES,
    IndexedRow,
    count_without_vector,
    mark_words,
    rows_without_words,
)
from backread.store.repositories.passages import (
    PassageRow,
    delete_passages,
    replace_passages,
    replace_passages_bulk,
)
from backread.store.repositories.removals import confirm_removals, pending_removals
from backread.store.repositories.retrieval import PassageFilter, search_words

CHAT = "c" * 26
NOON = datetime(2024, 3, 5, 12, tzinfo=UTC)


def row(said: str, *, message: str = "m1", at: datetime | None = NOON) -> PassageRow:
    return PassageRow(message, 0, len(said), "user", "Ada (5 March 2024)", said, 5, at)


@pytest.fixture
def chat(store: Store, principal: Principal) -> str:
    with store.write() as session:
        for number, identifier in enumerate((CHAT, "d" * 26)):
            session.add(
                Conversation(
                    id=identifier,
                    account_id=principal.account_id,
                    platform="chatgpt",
                    external_id=str(number),
                    capture_id="",
                    parser_version=1,
                    title="Tea",
                )
            )
    return CHAT


def put(store: Store, principal: Principal, rows: Sequence[PassageRow]) -> list[int]:
    with store.write() as session:
        return replace_passages(session, CHAT, principal.account_id, rows)


def stored(store: Store) -> list[tuple[int, str, str]]:
    with store.read() as session:
        query = select(Passage.id, Passage.text, Passage.lexical_with).order_by(Passage.position)
        return [(each.id, each.text, each.lexical_with) for each in session.execute(query)]


def matches(store: Store, principal: Principal, *term: str) -> list[str]:
    with store.read() as session:
        found = search_words(
            session, PassageFilter(principal.account_id), WordQuery(required=[term]), limit=10
        )
        by_id = dict.fromkeys(each for each, _ in found)
        rows = session.execute(select(Passage.id, Passage.text).where(Passage.id.in_(by_id)))
        return [each.text for each in rows]


def test_unchanged_passages_keep_id_and_index_marks(
    store: Store, principal: Principal, chat: str
) -> None:
    put(store, principal, [row("green tea"), row("black tea"), row("no tea")])
    before = {said: identifier for identifier, said, _ in stored(store)}
    with store.write() as session:
        mark_words(session, PASSAGES, list(before.values()), "bm25")
    removed = put(store, principal, [row("white tea"), row("no tea"), row("green tea")])
    assert removed == [before["black tea"]]
    after = stored(store)
    assert [said for _, said, _ in after] == ["white tea", "no tea", "green tea"]
    assert [mark for _, _, mark in after] == ["", "bm25", "bm25"]
    assert after[1][0] == before["no tea"]
    assert after[0][0] not in before.values()


def test_a_passage_whose_time_changed_is_a_new_one(
    store: Store, principal: Principal, chat: str
) -> None:
    put(store, principal, [row("green tea")])
    (old, *_), *_ = stored(store)
    assert put(store, principal, [row("green tea", at=None)]) == [old]


def test_ids_are_never_used_twice(store: Store, principal: Principal, chat: str) -> None:
    seen: set[int] = set()
    for said in ("one", "two", "three"):
        put(store, principal, [row(said)])
        (identifier, *_), *_ = stored(store)
        assert identifier not in seen
        seen.add(identifier)
        put(store, principal, [])


def test_full_text_follows_the_passages(store: Store, principal: Principal, chat: str) -> None:
    put(store, principal, [row("Green tea from Uji 宇治の緑茶"), row("Thé vert", message="m2")])
    assert matches(store, principal, "green", "tea") == ["Green tea from Uji 宇治の緑茶"]
    assert matches(store, principal, "the", "vert") == ["Thé vert"]
    assert matches(store, principal, "緑", "茶") == ["Green tea from Uji 宇治の緑茶"]
    assert matches(store, principal, "tea", "green") == []
    put(store, principal, [row("Thé vert", message="m2")])
    assert matches(store, principal, "green", "tea") == []
    assert matches(store, principal, "the", "vert") == ["Thé vert"]
    if store.is_sqlite:
        with store.write() as session:
            session.execute(
                text("INSERT INTO passages_fts(passages_fts) VALUES('integrity-check')")
            )


def test_removals_wait_until_the_index_has_carried_them_out(
    store: Store, principal: Principal, chat: str
) -> None:
    put(store, principal, [row("green tea"), row("black tea")])
    with store.write() as session:
        removed = delete_passages(session, principal.account_id, [CHAT])
    with store.read() as session:
        waiting = pending_removals(session, principal.account_id, "passages")
        assert session.scalar(select(func.count()).select_from(Passage)) == 0
    assert sorted(waiting) == sorted(removed)
    assert len(removed) == 2
    with store.write() as session:
        confirm_removals(session, "passages", removed)
        assert pending_removals(session, principal.account_id, "passages") == []


def test_another_accounts_conversation_is_not_touched(
    store: Store, principal: Principal, stranger: Principal, chat: str
) -> None:
    put(store, principal, [row("green tea")])
    with store.write() as session:
        assert delete_passages(session, stranger.account_id, [CHAT]) == []
    assert [said for _, said, _ in stored(store)] == ["green tea"]
    assert matches(store, stranger, "green") == []


def test_what_is_to_be_indexed_comes_in_pages(
    store: Store, principal: Principal, chat: str
) -> None:
    account_id = principal.account_id
    with store.write() as session:
        replace_passages_bulk(
            session,
            account_id,
            {CHAT: [row(f"tea {n}") for n in range(5)], "d" * 26: [row("coffee")]},
        )

    def without(signature: str, limit: int = 100, after: int = 0) -> list[IndexedRow]:
        with store.read() as session:
            return rows_without_words(
                session, PASSAGES, account_id, signature, limit=limit, after=after
            )

    first = without("v1", limit=4)
    rest = without("v1", limit=4, after=first[-1].id)
    assert [len(first), len(rest)] == [4, 2]
    assert rest[-1].text == "Ada (5 March 2024): coffee"
    assert rest[-1].platform == "chatgpt"
    with store.write() as session:
        mark_words(session, PASSAGES, [each.id for each in (*first, *rest)], "v1")
    assert without("v1") == []
    assert len(without("v2")) == 6
    with store.read() as reading:
        assert count_without_vector(reading, PASSAGES, account_id, "v1") == 6


def test_folding_keeps_scripts_apart_and_ascii_as_it_is() -> None:
    assert fold("plain text") == "plain text"
    assert words("Ça, ＡＢＣ größe") == ["ca", "abc", "große"]
    assert words("東京 Tokyo") == ["東", "京", "tokyo"]
