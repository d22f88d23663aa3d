"""Texts sorted into groups by their vectors and words, without a model that writes.

Vectors of short texts from one life lie close together: what they share says nothing. So the mean
is taken off, each vector is drawn a little towards its nearest neighbours (which closes gaps that
single words leave), and groups are joined by average linkage until a readable number is left.
Measured against k-means on the same vectors in `benchmarks/categories`.
"""

import math
from collections import Counter
from collections.abc import Sequence

import fastcluster
import numpy as np
from numpy.typing import NDArray

from backread.text.stemming import stems_of

Vectors = NDArray[np.float32]
Labels = NDArray[np.int64]

MOST_COMPARED = 2_000  # each with each; of more, a sample makes the groups and the rest joins them
FEWEST_GROUPS, MOST_GROUPS = 2, 24

_FEWEST_OF_LANGUAGE = 8  # texts, to know what those of a language share
_GROUPS_PER_ROOT = 1.4
_NEIGHBOURS = 8
_DRAWN = 0.7  # how far a vector goes towards its neighbours
_ROUNDS = 20
_WORD_SHARE = 0.3  # of likeness in words beside likeness in meaning, where neighbours are chosen


def wanted_groups(count: int) -> int:
    """How many groups of so many texts are readable: some more than the root, at most 24."""
    return max(FEWEST_GROUPS, min(MOST_GROUPS, round(_GROUPS_PER_ROOT * math.sqrt(count))))


def centred(vectors: Vectors, mean: Vectors | None = None) -> Vectors:
    """Unit vectors without what they all share. Rows that are left with nothing are zero."""
    shifted = vectors - (vectors.mean(axis=0) if mean is None else mean)
    return unit(shifted)


def across_languages(vectors: Vectors, languages: Sequence[str]) -> Vectors:
    """Unit vectors without what those of one language share, so that texts lie beside each other by
    what they are about and not by the language that they are in; unchanged when most are in one.
    `languages` has a code for each text, "" where it could not be told.

    Models of many languages keep much of the language in the vector; taking the mean of each off
    is the usual remedy (Libovický et al., "On the Language Neutrality of Pre-trained Multilingual
    Representations", 2020)."""
    counted = Counter(each for each in languages if each)
    known = [each for each, count in counted.items() if count >= _FEWEST_OF_LANGUAGE]
    if len(known) < 2:
        return vectors
    shifted = vectors - vectors.mean(axis=0)
    codes = np.asarray(languages)
    for each in known:
        places = np.flatnonzero(codes == each)
        shifted[places] = vectors[places] - vectors[places].mean(axis=0)
    return unit(shifted)


def unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths > 1e-9, lengths, 1.0)).astype(np.float32)
    return scaled


def group(
    vectors: Vectors, texts: Sequence[str], count: int | None = None, *, fewest: int = 3
) -> Labels:
    """A group number for each text. The same input always gives the same groups.

    `vectors` are unit vectors, one a text; `count` is how many groups of at least `fewest` texts
    there are to be (by default what is readable). Beside them smaller ones may be left over.
    """
    size = len(texts)
    if size <= 1:
        return np.zeros(size, dtype=np.int64)
    wanted = min(size, count or wanted_groups(size))
    if size <= MOST_COMPARED:
        return _linked(centred(vectors), texts, wanted, fewest)
    # Spread evenly over the order that they come in, which is that of time.
    sample = np.linspace(0, size - 1, MOST_COMPARED).round().astype(np.int64)
    rows = centred(vectors)
    labels = _linked(rows[sample], [texts[n] for n in sample], wanted, fewest)
    large = [n for n in range(int(labels.max()) + 1) if (labels == n).sum() >= fewest]
    centres = unit(np.stack([rows[sample][labels == n].mean(axis=0) for n in large]))
    return np.asarray((rows @ centres.T).argmax(axis=1), dtype=np.int64)


def _linked(rows: Vectors, texts: Sequence[str], wanted: int, fewest: int) -> Labels:
    drawn = _drawn_together(rows, texts)
    distance = np.clip(1.0 - drawn @ drawn.T, 0.0, 2.0).astype(np.float64)
    above = np.triu_indices(len(rows), 1)
    merges = fastcluster.linkage(distance[above], method="average", preserve_input=False)
    return _cut(merges, len(rows), wanted, fewest)


def _drawn_together(rows: Vectors, texts: Sequence[str]) -> Vectors:
    likeness = rows @ rows.T + _WORD_SHARE * _likeness_in_words(texts)
    np.fill_diagonal(likeness, -np.inf)
    nearest = min(_NEIGHBOURS, len(rows) - 1)
    places = np.argpartition(-likeness, nearest - 1, axis=1)[:, :nearest]
    links = np.zeros_like(likeness)
    np.put_along_axis(
        links, places, np.maximum(np.take_along_axis(likeness, places, axis=1), 0.0), axis=1
    )
    links = np.maximum(links, links.T)
    sums = links.sum(axis=1, keepdims=True)
    links = links / np.where(sums > 0, sums, 1.0)
    drawn = rows
    for _ in range(_ROUNDS):
        drawn = _DRAWN * (links @ drawn) + (1 - _DRAWN) * rows
    return centred(drawn.astype(np.float32))


def _likeness_in_words(texts: Sequence[str]) -> Vectors:
    counted = [Counter(stems_of(text)) for text in texts]
    frequency = Counter(stem for each in counted for stem in each)
    shared = {stem: n for n, stem in enumerate(s for s, times in frequency.items() if times > 1)}
    matrix = np.zeros((len(texts), len(shared) + 1), dtype=np.float32)
    for row, each in enumerate(counted):
        alone = 0.0
        for stem, times in each.items():
            weight = (1 + math.log(times)) * math.log(1 + len(texts) / frequency[stem])
            if stem in shared:
                matrix[row, shared[stem]] = weight
            else:
                alone += weight * weight
        matrix[row, -1] = math.sqrt(alone)  # it makes the text longer and alike to none
    scaled = unit(matrix)[:, :-1]
    likeness: Vectors = (scaled @ scaled.T).astype(np.float32)
    return likeness


def _cut(merges: NDArray[np.float64], size: int, wanted: int, fewest: int) -> Labels:
    """The groups after as many merges as leave `wanted` of at least `fewest` members, or, where
    there never are so many, the most; numbered by their first member."""
    steps = _merges_to_do(merges, size, wanted, fewest)
    members: dict[int, list[int]] = {n: [n] for n in range(size)}
    for step in range(steps):
        left, right = int(merges[step, 0]), int(merges[step, 1])
        members[size + step] = members.pop(left) + members.pop(right)
    labels = np.zeros(size, dtype=np.int64)
    for number, rows in enumerate(sorted(members.values(), key=min)):
        labels[rows] = number
    return labels


def _merges_to_do(merges: NDArray[np.float64], size: int, wanted: int, fewest: int) -> int:
    sizes = [1] * size
    large = size if fewest <= 1 else 0
    best, best_large = 0, min(large, wanted)
    for step in range(size - wanted):
        left, right = sizes[int(merges[step, 0])], sizes[int(merges[step, 1])]
        sizes.append(left + right)
        large += (left + right >= fewest) - (left >= fewest) - (right >= fewest)
        if min(large, wanted) >= best_large:  # of cuts alike, the one with the fewest leftovers
            best, best_large = step + 1, min(large, wanted)
    return best
