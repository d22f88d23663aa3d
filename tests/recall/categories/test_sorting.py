"""What was sorted once stays where it is."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.categories.sorting import FEWEST_SORTED, GROUP, REST, WHOLE, Item, plan
from recall.grouping.clustering import Vectors, unit


def life(size: int, seed: int, topics: int = 5) -> tuple[list[str], Vectors]:
    """Memories about some topics, as texts and vectors that lie near their topic's."""
    rng = np.random.default_rng(seed)
    centres = unit(rng.normal(size=(topics, 24)).astype(np.float32))
    of = rng.integers(topics, size=size)
    rows = unit(centres[of] + 0.15 * rng.normal(size=(size, 24)).astype(np.float32))
    return [f"topic{topic} word{number}" for number, topic in enumerate(of.tolist())], rows


@dataclass
class Bucket:
    """A bucket that is sorted again and again. Places are those of the whole life."""

    texts: list[str]
    rows: Vectors
    where: dict[int, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    grouped: int = 0
    made: int = 0

    def sort(self, places: list[int], *, anew: bool = False) -> bool:
        """Sorts these memories; True when all was grouped anew."""
        planned = plan(
            [Item(self.texts[p], self.where.get(p)) for p in places],
            self.rows[places],
            self.kinds,
            grouped_count=self.grouped,
            anew=anew,
        )
        where, kinds = {}, {}
        for category in planned.categories:
            key = category.id
            if key is None:
                self.made += 1
                key = f"c{self.made}"
            assert key not in kinds, "an id is given once"
            kinds[key] = category.kind
            where.update({places[member]: key for member in category.members})
        assert sorted(where) == sorted(places), "every memory is in exactly one category"
        self.where, self.kinds = where, kinds
        if planned.is_anew:
            self.grouped = len(places)
        return planned.is_anew


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(30, 90))
def test_a_tenth_more_moves_nothing_that_was_sorted(seed: int, size: int) -> None:
    bucket = Bucket(*life(size, seed))
    order = np.random.default_rng(seed).permutation(size).tolist()
    before = order[: size * 9 // 10]
    bucket.sort(before)
    was, kinds = dict(bucket.where), dict(bucket.kinds)
    assert not bucket.sort(order)
    groups = {key for key, kind in kinds.items() if kind == GROUP}
    assert groups <= set(bucket.kinds)
    moved = [p for p in before if bucket.where[p] != was[p] and was[p] in groups]
    assert not moved


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(30, 90))
def test_a_tenth_less_moves_only_what_lost_its_category(seed: int, size: int) -> None:
    bucket = Bucket(*life(size, seed))
    everything = list(range(size))
    bucket.sort(everything)
    was = dict(bucket.where)
    kept = sorted(np.random.default_rng(seed).permutation(size)[: size * 9 // 10].tolist())
    bucket.sort(kept)
    left = {was[p] for p in kept if bucket.where[p] != was[p]}
    assert all(bucket.kinds.get(key, REST) == REST for key in left)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(-6, 9), min_size=3, max_size=12))
def test_however_a_bucket_changes_it_is_sorted_whole(seed: int, steps: list[int]) -> None:
    bucket = Bucket(*life(120, seed))
    places, fresh = list(range(20)), 20
    for step in [0, *steps]:
        if step < 0:
            places = places[-step:]
        else:
            places += list(range(fresh, min(120, fresh + step)))
            fresh = min(120, fresh + step)
        bucket.sort(places)  # checks itself
        kinds = Counter(bucket.kinds.values())
        assert kinds[REST] <= 1
        if len(places) < FEWEST_SORTED:
            assert set(kinds) <= {WHOLE}


def test_sorting_the_same_again_changes_nothing() -> None:
    bucket = Bucket(*life(60, 3))
    bucket.sort(list(range(60)))
    was = dict(bucket.where)
    bucket.sort(list(range(60)))
    assert bucket.where == was


def test_grouped_anew_most_categories_keep_their_ids() -> None:
    bucket = Bucket(*life(70, 11))
    bucket.sort(list(range(70)))
    was, ids = dict(bucket.where), set(bucket.kinds)
    assert bucket.sort(list(range(70)), anew=True)
    assert set(bucket.kinds) == ids
    assert bucket.where == was


def test_a_bucket_that_has_doubled_is_grouped_anew_and_its_topics_keep_their_ids() -> None:
    bucket = Bucket(*life(80, 21, topics=3))
    bucket.sort(list(range(40)))
    topic = {p: bucket.texts[p].split()[0] for p in range(80)}
    main = {
        topic[members[0]]: key
        for key, kind in bucket.kinds.items()
        if kind == GROUP
        and len(members := [p for p, where in bucket.where.items() if where == key]) >= 3
    }
    assert bucket.sort(list(range(80)))
    assert set(main.values()) & set(bucket.kinds)


def test_a_small_bucket_is_one_category_and_keeps_its_id_as_it_grows() -> None:
    bucket = Bucket(*life(7, 2))
    bucket.sort(list(range(3)))
    ((key, kind),) = bucket.kinds.items()
    assert kind == WHOLE
    bucket.sort(list(range(7)))
    assert list(bucket.kinds) == [key]


def test_what_fits_nowhere_waits_in_the_rest_until_there_is_enough_of_it() -> None:
    texts, rows = life(40, 8, topics=2)
    odd = unit(np.eye(24, dtype=np.float32)[:1] * -1 + 0.01)
    strange = np.repeat(odd, 9, axis=0)
    bucket = Bucket(texts + [f"strange {n}" for n in range(9)], np.concatenate([rows, strange]))
    bucket.sort(list(range(40)))
    groups = {key for key, kind in bucket.kinds.items() if kind == GROUP}
    bucket.sort(list(range(41)))
    assert bucket.kinds[bucket.where[40]] == REST
    bucket.sort(list(range(49)))
    assert bucket.kinds[bucket.where[40]] == GROUP
    assert bucket.where[40] not in groups
    assert len({bucket.where[p] for p in range(40, 49)}) == 1


def test_nothing_is_sorted_into_nothing() -> None:
    assert plan([], np.zeros((0, 4), np.float32), {}, grouped_count=0).categories == ()
