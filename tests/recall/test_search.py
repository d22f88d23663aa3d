"""Searching past chats, through the one entry that web, API and command line use."""

from datetime import UTC, datetime

import pytest

from backread.domain import Platform, Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from recall.search import SearchQuery, SearchResult, search
from tests.recall.chats import CODE, GARDEN, TRAVEL, Chat, keep


def titles(result: SearchResult) -> list[str]:
    return list(dict.fromkeys(hit.title for hit in result.hits))


def find(kernel: Kernel, principal: Principal, text: str, **filters: object) -> SearchResult:
    return search(kernel, principal, SearchQuery.model_validate({"text": text, **filters}))


def test_the_chat_that_speaks_of_it_comes_first(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, GARDEN, TRAVEL, CODE)
    result = find(kernel, principal, "what soil do the raised beds need?")
    assert titles(result)[0] == "Raised beds"
    assert result.conversations_searched == 3
    top = result.hits[0]
    assert top.reader_url.endswith(f"/c/{top.conversation_id}#m-{top.message_id}")
    assert top.reader_url.startswith(kernel.settings.origin)


def test_chats_are_found_by_their_words_before_they_are_indexed(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, GARDEN, TRAVEL, index=False)
    assert titles(find(kernel, principal, "bicycles on the Nightjet"))[0] == "Night train to Vienna"


def test_fresh_chats_stand_beside_indexed_ones(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, GARDEN)
    keep(
        kernel, principal, Chat("Compost", ["How warm must compost for the beds be?"]), index=False
    )
    assert set(titles(find(kernel, principal, "compost for the raised beds"))) == {
        "Compost",
        "Raised beds",
    }


def test_a_stranger_finds_nothing(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    keep(kernel, principal, GARDEN)
    keep(kernel, principal, TRAVEL, index=False)
    for text in ("raised beds cedar", '"night train"', "Nightjet bicycles -cedar"):
        result = find(kernel, stranger, text)
        assert result.hits == []
        assert result.conversations_total == 0


def test_a_quoted_phrase_must_occur_as_it_is(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, GARDEN, TRAVEL, CODE)
    assert titles(find(kernel, principal, '"covering index"')) == ["Slow query"]
    assert titles(find(kernel, principal, '"index covering"')) == []


def test_an_excluded_word_keeps_its_messages_out(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, GARDEN, CODE)
    texts = [hit.text for hit in find(kernel, principal, "cedar soil beds -Hollis").hits]
    assert texts
    assert not any("Hollis" in text for text in texts)


def test_accents_and_case_do_not_matter_to_phrases(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, Chat("Café", ["Das CAFÉ Zürich öffnet um neun."]))
    assert titles(find(kernel, principal, '"cafe zurich"')) == ["Café"]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我们下个月搬到里斯本的银行工作。", "里斯本"),
        ("来月リスボンに引っ越します。", "リスボン"),
        ("다음 달 리스본으로 이사해요.", "리스본"),
        ("เดือนหน้าเราจะย้ายไปลิสบอน", "ลิสบอน"),
        ("سننتقل إلى لشبونة الشهر القادم", "لشبونة"),
        ("В следующем месяце мы переезжаем в Лиссабон", "лиссабон"),
    ],
)
@pytest.mark.parametrize("index", [True, False])
def test_every_script_finds_its_words(
    kernel: Kernel, principal: Principal, said: str, asked: str, index: bool
) -> None:
    keep(
        kernel,
        principal,
        Chat("Move", [said]),
        Chat("Other", ["Nothing of that kind."]),
        index=index,
    )
    assert titles(find(kernel, principal, f'"{asked}"')) == ["Move"]
    assert titles(find(kernel, principal, asked))[0] == "Move"


def test_bare_dates_are_whole_days_in_utc(kernel: Kernel, principal: Principal) -> None:
    early = Chat("Early", ["The lamp is green."], datetime(2024, 1, 10, 0, 0, tzinfo=UTC))
    late = Chat("Late", ["The lamp is red."], datetime(2024, 1, 10, 23, 59, 30, tzinfo=UTC))
    after = Chat("After", ["The lamp is blue."], datetime(2024, 1, 11, 0, 0, tzinfo=UTC))
    keep(kernel, principal, early, late, after)
    result = find(kernel, principal, "lamp", after="2024-01-10", before="2024-01-10")
    assert set(titles(result)) == {"Early", "Late"}
    assert (result.conversations_searched, result.conversations_total) == (2, 3)
    assert set(titles(find(kernel, principal, "lamp", after="2024-01-11"))) == {"After"}
    exact = find(kernel, principal, "lamp", before="2024-01-10T01:00:00+01:00")
    assert titles(exact) == ["Early"]


def test_undated_chats_match_no_window(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, Chat("Undated", ["The lamp is green."], None), GARDEN)
    assert titles(find(kernel, principal, "lamp green"))[0] == "Undated"
    assert "Undated" not in titles(find(kernel, principal, "lamp green", after="1970-01-01"))


def test_a_platform_limits_the_search(kernel: Kernel, principal: Principal) -> None:
    chats = [Chat(f"On {each}", ["The lamp is green."], platform=each) for each in Platform]
    keep(kernel, principal, *chats)
    assert set(titles(find(kernel, principal, "lamp", platform="claude"))) == {
        "On claude_ai",
        "On claude_code",
    }
    assert set(titles(find(kernel, principal, "lamp", platform="ChatGPT"))) == {
        "On chatgpt",
        "On chatgpt_exporter",
    }
    assert titles(find(kernel, principal, "lamp", platform="claude.ai")) == ["On claude_ai"]
    with pytest.raises(InvalidInput, match="chatgpt, chatgpt_exporter, claude"):
        find(kernel, principal, "lamp", platform="nowhere")


@pytest.mark.parametrize(
    "filters",
    [
        {"after": "yesterday"},
        {"before": "2024-13-01"},
        {"after": "2024-02-30"},
        {"after": "2024-05-02", "before": "2024-05-01"},
        {"platform": "<script>"},
    ],
)
def test_bounds_that_cannot_be_read_are_refused(
    kernel: Kernel, principal: Principal, filters: dict[str, str]
) -> None:
    with pytest.raises(InvalidInput) as caught:
        find(kernel, principal, "lamp", **filters)
    assert caught.value.hint


def test_one_long_chat_does_not_take_every_place(kernel: Kernel, principal: Principal) -> None:
    long = Chat("Long", [f"The lamp in room {number} is green." for number in range(60)])
    keep(kernel, principal, long, Chat("Short", ["A lamp, green, in the hall."]))
    found = find(kernel, principal, "green lamp", limit=10)
    assert len(found.hits) == 10
    assert "Short" in titles(found)


def test_a_deleted_passage_is_not_found_though_the_index_still_has_it(
    kernel: Kernel, principal: Principal
) -> None:
    from backread.store.repositories.passages import delete_passages

    kept = keep(kernel, principal, GARDEN, TRAVEL)
    with kernel.store.write() as session:
        delete_passages(session, principal.account_id, [kept[0]])
    assert "Raised beds" not in titles(find(kernel, principal, "cedar raised beds"))
    assert titles(find(kernel, principal, '"cedar planks"')) == []


@pytest.mark.parametrize("text", ['"', "-", "?!", "-cedar", '""', "*", "a AND", "NEAR(", "'x\\"])
def test_odd_queries_are_answered_and_not_errors(
    kernel: Kernel, principal: Principal, text: str
) -> None:
    keep(kernel, principal, GARDEN)
    keep(kernel, principal, CODE, index=False)
    find(kernel, principal, text)


def test_what_has_nothing_to_do_with_the_query_is_not_listed(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, GARDEN, TRAVEL, CODE)
    result = find(kernel, principal, "quantum chromodynamics")
    assert result.hits == []
    assert "Nothing found" in result.text
