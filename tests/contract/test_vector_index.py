"""What every search index must do, whoever provides it."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from backread.identity import new_id
from backread.llm.hashing import HashingEmbedder
from backread.vectors.edge import EdgeIndex
from backread.vectors.index import Collection, IndexFilter, IndexPoint, IndexQuery, VectorIndex
from backread.vectors.qdrant import IN_MEMORY, QdrantIndex
from tests.contract.owner_process import OwnerProcess

QDRANT_URL = os.environ.get("BACKREAD_TEST_QDRANT_URL", "")
ADAPTERS = ["edge", "socket", "qdrant_in_memory", *(["qdrant_server"] if QDRANT_URL else [])]

EMBEDDER = HashingEmbedder()
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
PASSAGES = Collection.PASSAGES


@pytest.fixture(params=ADAPTERS)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    opened: VectorIndex
    if request.param == "edge":
        opened = EdgeIndex(tmp_path / "index", EMBEDDER.signature)
    elif request.param == "socket":
        owner: OwnerProcess = request.getfixturevalue("owner")
        opened = owner.index(EMBEDDER.signature)
    elif request.param == "qdrant_server":
        opened = QdrantIndex(QDRANT_URL, EMBEDDER.signature)
    else:
        opened = QdrantIndex(IN_MEMORY, EMBEDDER.signature)
    yield opened
    opened.close()


@pytest.fixture
def account() -> str:
    return new_id()


@pytest.fixture
def other_account() -> str:
    return new_id()


_last_id = 0


def point(
    account: str,
    text: str,
    *,
    group: str = "chat",
    when: datetime | None = NOON,
    platform: str = "chatgpt",
    with_vector: bool = True,
    number: int | None = None,
) -> IndexPoint:
    """A point with an id that no other has, as the database gives them."""
    global _last_id
    _last_id += 1
    return IndexPoint(
        id=_last_id if number is None else number,
        account_id=account,
        group=group,
        text=text,
        vector=EMBEDDER.embed_passages([text])[0].tolist() if with_vector else None,
        occurred_at=when,
        platform=platform,
    )


def by_words(wanted: IndexFilter, words: str, limit: int = 10) -> IndexQuery:
    return IndexQuery(filter=wanted, limit=limit, words=words)


def by_meaning(wanted: IndexFilter, text: str, limit: int = 10) -> IndexQuery:
    return IndexQuery(filter=wanted, limit=limit, vector=EMBEDDER.embed_queries([text])[0].tolist())


def ids(index: VectorIndex, query: IndexQuery) -> list[int]:
    return [found.id for found in index.search(PASSAGES, [query])[0]]


def test_a_point_is_found_by_any_of_its_words_best_match_first(
    index: VectorIndex, account: str
) -> None:
    both = point(account, "We moved to Lisbon in March")
    one = point(account, "Lisbon has steep streets")
    index.upsert(PASSAGES, [point(account, "A recipe for bread"), one, both])

    found = index.search(PASSAGES, [by_words(IndexFilter(account), "lisbon march")])[0]

    assert [each.id for each in found] == [both.id, one.id]
    assert found[0].score > found[1].score > 0


def test_forms_of_an_english_word_find_each_other(index: VectorIndex, account: str) -> None:
    moved = point(account, "she was moving her stories")
    index.upsert(PASSAGES, [moved, point(account, "nothing of the kind")])

    assert ids(index, by_words(IndexFilter(account), "moved story")) == [moved.id]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Das Haus steht in dem Dorf und ist alt", "Häuser"),
        ("Les chevaux sont dans le pré et nous attendent", "cheval"),
        ("Las abejas vuelan y los niños las miran", "mirando"),
        ("ذهبنا إلى المدينة، ثم عدنا", "مدينة"),
        ("Мы говорили с книгами", "книга"),
    ],
)
def test_forms_of_a_word_find_each_other_in_other_languages(
    index: VectorIndex, account: str, text: str, words: str
) -> None:
    there = point(account, text)
    index.upsert(PASSAGES, [there, point(account, "nothing of the kind")])

    assert ids(index, by_words(IndexFilter(account), words)) == [there.id]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我们三月搬到了里斯本的新房子", "里斯本"),
        ("リスボンに引っ越しました", "リスボン"),
        ("เราย้ายไปลิสบอนเมื่อเดือนมีนาคม", "ลิสบอน"),
        ("انتقلنا إلى لشبونة في مارس", "لشبونة"),
        ("우리는 리스본으로 이사했다", "리스본"),
        ("Wir wohnen jetzt in Zürich", "zurich"),
        ("Мы переехали в Лиссабон", "Лиссабон"),
        ("नई दिल्ली में बैठक", "दिल्ली"),
        ("“quoted”—dashed", "quoted"),
    ],
)
def test_words_of_other_scripts_are_found(
    index: VectorIndex, account: str, text: str, words: str
) -> None:
    there = point(account, text)
    index.upsert(PASSAGES, [there, point(account, "an unrelated English text")])

    assert ids(index, by_words(IndexFilter(account), words)) == [there.id]


def test_the_nearest_vector_comes_first_with_its_cosine(index: VectorIndex, account: str) -> None:
    near, far = point(account, "bread with olives"), point(account, "quarterly tax report")
    index.upsert(PASSAGES, [far, near])

    found = index.search(PASSAGES, [by_meaning(IndexFilter(account), "olive bread")])[0]

    expected = float(np.dot(*EMBEDDER.embed_passages(["olive bread", near.text])))
    assert [each.id for each in found] == [near.id, far.id]
    assert found[0].score == pytest.approx(expected, abs=2e-3)  # as the protocol says


def test_a_search_never_shows_another_accounts_points(
    index: VectorIndex, account: str, other_account: str
) -> None:
    mine = point(account, "my secret garden", group="shared")
    theirs = point(other_account, "their secret garden", group="shared")
    index.upsert(PASSAGES, [mine, theirs])
    wanted = IndexFilter(account, groups=("shared",), platforms=("chatgpt",))

    assert ids(index, by_words(wanted, "secret garden their")) == [mine.id]
    assert ids(index, by_meaning(wanted, "their secret garden")) == [mine.id]
    assert index.count(PASSAGES, account) == 1


def test_another_accounts_texts_do_not_change_a_score(
    index: VectorIndex, account: str, other_account: str
) -> None:
    index.upsert(PASSAGES, [point(account, "a rare orchid"), point(account, "a common rose")])
    query = by_words(IndexFilter(account), "orchid")
    before = index.search(PASSAGES, [query])[0][0].score

    index.upsert(PASSAGES, [point(other_account, f"orchid number {n}") for n in range(20)])

    assert index.search(PASSAGES, [query])[0][0].score == pytest.approx(before, rel=1e-5)


def test_a_rare_word_of_the_account_weighs_more_than_a_common_one(
    index: VectorIndex, account: str
) -> None:
    common = [point(account, f"meeting notes number {n}") for n in range(10)]
    rare = point(account, "axolotl facts and figures")
    index.upsert(PASSAGES, [*common, rare])

    assert ids(index, by_words(IndexFilter(account), "meeting axolotl"))[0] == rare.id


def test_time_limits_are_inclusive_and_a_point_without_time_matches_none(
    index: VectorIndex, account: str
) -> None:
    day = timedelta(days=1)
    early, middle, late = (point(account, "tea", when=NOON + day * n) for n in (-1, 0, 1))
    before_1970 = point(account, "tea", when=datetime(1960, 1, 1, tzinfo=UTC))
    undated = point(account, "tea", when=None)
    index.upsert(PASSAGES, [early, middle, late, before_1970, undated])

    def found(after: datetime | None, before: datetime | None) -> set[int]:
        wanted = IndexFilter(account, after=after, before=before)
        with_words, with_vector = index.search(
            PASSAGES, [by_words(wanted, "tea"), by_meaning(wanted, "tea")]
        )
        assert {each.id for each in with_words} == {each.id for each in with_vector}
        return {each.id for each in with_words}

    assert found(NOON, NOON) == {middle.id}
    assert found(NOON, None) == {middle.id, late.id}
    assert found(None, NOON) == {before_1970.id, early.id, middle.id}
    assert found(None, None) == {before_1970.id, early.id, middle.id, late.id, undated.id}


def test_platforms_and_groups_narrow_a_search(index: VectorIndex, account: str) -> None:
    first = point(account, "tea", platform="chatgpt", group="one")
    second = point(account, "tea", platform="claude_ai", group="two")
    third = point(account, "tea", platform="claude_ai", group="three")
    index.upsert(PASSAGES, [first, second, third])

    def found(wanted: IndexFilter) -> set[int]:
        return set(ids(index, by_words(wanted, "tea")))

    assert found(IndexFilter(account, platforms=("claude_ai",))) == {second.id, third.id}
    assert found(IndexFilter(account, groups=("one", "two"))) == {first.id, second.id}
    assert found(IndexFilter(account, platforms=("chatgpt",), groups=("two",))) == set()


def test_a_limit_is_kept(index: VectorIndex, account: str) -> None:
    index.upsert(PASSAGES, [point(account, f"tea {n}") for n in range(20)])

    assert len(ids(index, by_words(IndexFilter(account), "tea", limit=7))) == 7
    assert len(ids(index, by_meaning(IndexFilter(account), "tea", limit=7))) == 7


def test_upserting_twice_leaves_one_point_with_the_later_text(
    index: VectorIndex, account: str
) -> None:
    first = point(account, "the old wording")
    second = point(account, "a fresh phrase", number=first.id)
    for points in ([first], [first], [second], [second]):
        index.upsert(PASSAGES, points)

    assert index.count(PASSAGES, account) == 1
    assert ids(index, by_words(IndexFilter(account), "wording")) == []
    assert ids(index, by_words(IndexFilter(account), "phrase")) == [first.id]


def test_a_point_without_a_vector_is_found_by_words_until_it_gets_one(
    index: VectorIndex, account: str
) -> None:
    bare = point(account, "a note on herbs", with_vector=False)
    index.upsert(PASSAGES, [bare])
    assert ids(index, by_words(IndexFilter(account), "herbs")) == [bare.id]
    assert ids(index, by_meaning(IndexFilter(account), "herbs")) == []

    index.upsert(PASSAGES, [point(account, bare.text, number=bare.id)])

    assert ids(index, by_words(IndexFilter(account), "herbs")) == [bare.id]
    assert ids(index, by_meaning(IndexFilter(account), "herbs")) == [bare.id]


def test_deleted_points_are_gone_and_deleting_again_is_harmless(
    index: VectorIndex, account: str
) -> None:
    goes, stays = point(account, "tea"), point(account, "tea")
    index.upsert(PASSAGES, [goes, stays])

    for _ in range(2):
        index.delete(PASSAGES, account, [goes.id])
    index.delete(PASSAGES, account, [])

    assert ids(index, by_words(IndexFilter(account), "tea")) == [stays.id]


def test_nobody_can_delete_another_accounts_points(
    index: VectorIndex, account: str, other_account: str
) -> None:
    mine = point(account, "tea", group="shared")
    index.upsert(PASSAGES, [mine])

    index.delete(PASSAGES, other_account, [mine.id])
    index.delete_group(PASSAGES, other_account, "shared")
    index.delete_account(other_account)

    assert ids(index, by_words(IndexFilter(account), "tea")) == [mine.id]


def test_deleting_a_group_takes_its_points_only(index: VectorIndex, account: str) -> None:
    stays = point(account, "tea", group="kept")
    index.upsert(PASSAGES, [point(account, "tea", group="dropped") for _ in range(3)] + [stays])

    for _ in range(2):
        index.delete_group(PASSAGES, account, "dropped")

    assert ids(index, by_words(IndexFilter(account), "tea")) == [stays.id]


def test_deleting_an_account_empties_every_collection_of_it(
    index: VectorIndex, account: str, other_account: str
) -> None:
    for collection in Collection:
        index.upsert(collection, [point(account, "tea"), point(other_account, "tea")])

    index.delete_account(account)

    for collection in Collection:
        assert index.count(collection, account) == 0
        assert index.count(collection, other_account) == 1


def test_collections_do_not_mix(index: VectorIndex, account: str) -> None:
    passage = point(account, "tea in a passage")
    memory = point(account, "tea in a memory", number=passage.id)
    index.upsert(PASSAGES, [passage])
    index.upsert(Collection.MEMORIES, [memory])
    index.delete(Collection.MEMORIES, account, [memory.id])

    assert ids(index, by_words(IndexFilter(account), "tea")) == [passage.id]
    assert index.count(Collection.MEMORIES, account) == 0


def test_a_batch_of_a_hundred_queries_is_answered_in_the_order_asked(
    index: VectorIndex, account: str, other_account: str
) -> None:
    points = [point(account, f"topic{n} words about it") for n in range(50)]
    index.upsert(PASSAGES, points)
    queries, expected = [], []
    for n, each in enumerate(points):
        whose = other_account if n % 7 == 0 else account
        queries += [
            by_words(IndexFilter(whose), f"topic{n}", limit=1),
            by_meaning(IndexFilter(whose), each.text, limit=1),
        ]
        expected += [[] if whose == other_account else [each.id]] * 2

    answers = index.search(PASSAGES, queries)

    assert [[found.id for found in answer] for answer in answers] == expected


def test_texts_and_queries_without_words_do_no_harm(index: VectorIndex, account: str) -> None:
    empty = [point(account, text) for text in ("", "   ", "…!?", "\ud83d cut emoji")]
    index.upsert(PASSAGES, empty)
    index.upsert(PASSAGES, [])

    assert index.count(PASSAGES, account) == len(empty)
    answers = index.search(
        PASSAGES, [by_words(IndexFilter(account), text) for text in ("", "?!", "emoji")]
    )
    assert [[found.id for found in answer] for answer in answers] == [[], [], [empty[3].id]]
    assert index.search(PASSAGES, []) == []


def test_a_query_has_either_words_or_a_vector(index: VectorIndex, account: str) -> None:
    with pytest.raises(ValueError, match="either words or a vector"):
        index.search(PASSAGES, [IndexQuery(IndexFilter(account), limit=1)])


def test_many_points_are_taken_at_once(index: VectorIndex, account: str) -> None:
    points = [point(account, f"entry {n}", with_vector=False) for n in range(1_200)]

    index.upsert(PASSAGES, points)
    index.flush()

    assert index.count(PASSAGES, account) == len(points)


def test_the_lexical_signature_stays_and_fits_its_column(index: VectorIndex) -> None:
    assert index.lexical_signature == index.lexical_signature
    assert 0 < len(index.lexical_signature) <= 60


OTHER = "another-model"


def nearest(index: VectorIndex, account: str, vector: list[float], model: str = "") -> list[int]:
    asked = IndexQuery(IndexFilter(account), 10, vector=vector, model=model)
    return [each.id for each in index.search(PASSAGES, [asked])[0]]


def test_vectors_of_a_second_model_lie_beside_those_of_the_first(
    index: VectorIndex, account: str
) -> None:
    tea, bread = point(account, "green tea"), point(account, "rye bread")
    index.upsert(PASSAGES, [tea, bread])

    index.add_vectors(
        PASSAGES, account, {tea.id: [0.0, 1.0, 0.0], bread.id: [1.0, 0.0, 0.0]}, model=OTHER
    )

    assert nearest(index, account, [1.0, 0.1, 0.0], OTHER)[0] == bread.id
    assert tea.vector is not None
    assert nearest(index, account, list(tea.vector))[0] == tea.id
    (by_words,) = index.search(PASSAGES, [IndexQuery(IndexFilter(account), 10, words="bread")])
    assert [each.id for each in by_words] == [bread.id]


def test_a_vector_is_added_to_the_accounts_own_points_only(
    index: VectorIndex, account: str, other_account: str
) -> None:
    mine, theirs = point(account, "green tea"), point(other_account, "green tea")
    index.upsert(PASSAGES, [mine, theirs])

    wanted = {mine.id: [1.0, 0.0], theirs.id: [1.0, 0.0], 2**40: [1.0, 0.0]}
    index.add_vectors(PASSAGES, account, wanted, model=f"{OTHER}-2")

    assert nearest(index, account, [1.0, 0.0], f"{OTHER}-2") == [mine.id]
    assert nearest(index, other_account, [1.0, 0.0], f"{OTHER}-2") == []


def test_putting_a_point_in_whole_takes_its_other_vectors_away(
    index: VectorIndex, account: str
) -> None:
    tea = point(account, "green tea")
    index.upsert(PASSAGES, [tea])
    index.add_vectors(PASSAGES, account, {tea.id: [1.0, 0.0, 0.0]}, model=OTHER)

    index.upsert(PASSAGES, [tea])

    assert nearest(index, account, [1.0, 0.0, 0.0], OTHER) == []


def test_dropping_a_model_leaves_words_and_other_vectors(index: VectorIndex, account: str) -> None:
    model = f"{OTHER}-3"
    tea = point(account, "green tea")
    index.upsert(PASSAGES, [tea])
    index.add_vectors(PASSAGES, account, {tea.id: [1.0, 0.0, 0.0]}, model=model)

    index.drop_model(model)
    index.drop_model(model)

    assert tea.vector is not None
    assert nearest(index, account, list(tea.vector)) == [tea.id]
    index.add_vectors(PASSAGES, account, {tea.id: [0.0, 1.0]}, model=model)
    assert nearest(index, account, [0.0, 1.0], model) == [tea.id], "of another length now"


def test_a_search_compares_vectors_of_one_model(index: VectorIndex, account: str) -> None:
    within = IndexFilter(account)
    mixed = [IndexQuery(within, 1, vector=[1.0], model=name) for name in ("one", "two")]

    with pytest.raises(ValueError, match="one model"):
        index.search(PASSAGES, mixed)
