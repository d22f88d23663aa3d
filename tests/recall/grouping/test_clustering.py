"""Groups of texts by their vectors and words."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from backread.llm.hashing import HashingEmbedder
from recall.grouping.clustering import (
    MOST_COMPARED,
    MOST_GROUPS,
    across_languages,
    centred,
    group,
    unit,
    wanted_groups,
)
from tests.recall.categories.lives import ALL


def test_what_is_about_the_same_comes_together() -> None:
    labels = group(HashingEmbedder().embed_passages(ALL), ALL, 3)
    assert [len(set(labels[start : start + 5].tolist())) for start in (0, 5, 10)] == [1, 1, 1]
    assert len(set(labels.tolist())) == 3


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_every_text_is_in_one_group_and_the_same_input_gives_the_same(size: int, seed: int) -> None:
    rows = unit(np.random.default_rng(seed).normal(size=(size, 12)).astype(np.float32))
    texts = [f"word{number % 7} text" for number in range(size)]
    labels = group(rows, texts)
    assert len(labels) == size
    assert sorted(set(labels.tolist())) == list(range(len(set(labels.tolist()))))
    assert (labels == group(rows, texts)).all()


def test_there_are_never_more_groups_than_can_be_read() -> None:
    assert [wanted_groups(count) for count in (1, 8, 100, 100_000)] == [2, 4, 14, MOST_GROUPS]


def test_texts_that_are_all_the_same_are_grouped_too() -> None:
    rows = np.full((12, 4), 0.5, dtype=np.float32)
    assert len(group(rows, ["tea"] * 12)) == 12
    assert not np.isnan(centred(rows)).any()


def test_of_very_many_a_sample_makes_the_groups_and_all_join_them() -> None:
    size = MOST_COMPARED + 50
    rng = np.random.default_rng(5)
    centres = unit(rng.normal(size=(3, 16)).astype(np.float32))
    of = np.arange(size) % 3
    rows = unit(centres[of] + 0.05 * rng.normal(size=(size, 16)).astype(np.float32))
    labels = group(rows, [f"w{n % 11}" for n in range(size)], 3)
    assert all(len(set(labels[of == topic].tolist())) == 1 for topic in range(3))


def test_texts_of_two_languages_are_grouped_by_what_they_are_about() -> None:
    rng = np.random.default_rng(3)
    topics, languages = rng.normal(size=(2, 3, 32))
    about = [place % 3 for place in range(60)]
    spoken = [("en", "lv")[place // 30] for place in range(60)]
    rows = np.stack(
        [
            topics[about[place]] + 3 * languages[place // 30] + 0.2 * rng.normal(size=32)
            for place in range(60)
        ]
    )
    mixed = across_languages(unit(rows.astype(np.float32)), spoken)
    labels = group(mixed, [""] * 60, 3)
    assert len({(label, topic) for label, topic in zip(labels.tolist(), about, strict=True)}) == 3


def test_texts_of_one_language_stay_as_they_are() -> None:
    rows = unit(np.random.default_rng(3).normal(size=(20, 8)).astype(np.float32))
    few = ["en"] * 13 + ["lv"] * 7  # too few to know what that language shares
    assert across_languages(rows, few) is rows
