import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from qdrant_edge import Distance, EdgeShard, UpdateOperation, VectorStorageDatatype

from backread.errors import Unavailable
from backread.vectors import schema
from backread.vectors.edge import EdgeIndex
from backread.vectors.index import Collection, IndexFilter, IndexPoint, IndexQuery

PASSAGES = Collection.PASSAGES
MINE = IndexFilter("account")


def point(number: int, text: str, vector: list[float] | None = None) -> IndexPoint:
    return IndexPoint(number, "account", "chat", text, vector)


def words(text: str) -> IndexQuery:
    return IndexQuery(MINE, 10, words=text)


def near(*vector: float) -> IndexQuery:
    return IndexQuery(MINE, 10, vector=vector)


def found(index: EdgeIndex, query: IndexQuery) -> list[int]:
    return [each.id for each in index.search(PASSAGES, [query])[0]]


def test_what_was_stored_is_there_after_reopening(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, "model")
    index.upsert(PASSAGES, [point(1, "tea", [1.0, 0.0])])
    signature = index.lexical_signature
    index.close()

    again = EdgeIndex(tmp_path, "model")

    assert found(again, words("tea")) == found(again, near(1.0, 0.0)) == [1]
    assert again.lexical_signature == signature
    again.close()


def test_a_second_opener_is_told_who_has_the_index(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path)

    with pytest.raises(Unavailable, match=f"pid {os.getpid()}") as refused:
        EdgeIndex(tmp_path)

    assert "backread up" in refused.value.hint
    index.close()
    EdgeIndex(tmp_path).close()


def test_a_forked_child_is_refused_and_the_parent_is_unharmed(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from backread.vectors.edge import EdgeIndex
from backread.vectors.index import Collection, IndexPoint
index = EdgeIndex(Path(sys.argv[1]))
index.upsert(Collection.PASSAGES, [IndexPoint(1, "account", "chat", "tea")])
child = os.fork()
if child == 0:
    try:
        index.count(Collection.PASSAGES, "account")
    except RuntimeError as error:
        os._exit(0 if "open it after the fork" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert index.count(Collection.PASSAGES, "account") == 1
index.close()
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, timeout=60)


def test_points_survive_a_killed_process(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from pathlib import Path
from backread.vectors.edge import EdgeIndex
from backread.vectors.index import Collection, IndexPoint
index = EdgeIndex(Path(sys.argv[1]))
index.upsert(Collection.PASSAGES, [IndexPoint(1, "account", "chat", "tea")])
index.flush()
index.upsert(Collection.PASSAGES, [IndexPoint(2, "account", "chat", "tea")])
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)

    index = EdgeIndex(tmp_path)

    assert sorted(found(index, words("tea"))) == [1, 2]
    index.close()


def test_a_lost_index_has_another_signature(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path)
    before = index.lexical_signature
    index.close()
    shutil.rmtree(tmp_path)

    again = EdgeIndex(tmp_path)

    assert again.lexical_signature != before
    again.close()


def test_a_half_made_shard_is_made_anew(tmp_path: Path) -> None:
    EdgeIndex(tmp_path).close()
    (half,) = tmp_path.glob("v*")
    (half / "passages" / "segments").mkdir(parents=True)
    (half / "passages" / "edge_config.json").write_text("{")

    index = EdgeIndex(tmp_path)
    index.upsert(PASSAGES, [point(1, "tea")])

    assert found(index, words("tea")) == [1]
    index.close()


@pytest.mark.parametrize("lost", ["passages", "memories", "passages.whole", "generation"])
def test_an_index_that_lost_a_part_has_another_signature_so_all_is_indexed_again(
    tmp_path: Path, lost: str
) -> None:
    index = EdgeIndex(tmp_path)
    for collection in Collection:
        index.upsert(collection, [point(1, "tea")])
    before = index.lexical_signature
    index.close()
    (part,) = tmp_path.glob(f"v*/{lost}")
    shutil.rmtree(part) if part.is_dir() else part.unlink()

    again = EdgeIndex(tmp_path)
    after = again.lexical_signature
    again.close()
    reopened = EdgeIndex(tmp_path)

    assert after != before
    assert reopened.lexical_signature == after
    reopened.close()


def test_a_damaged_index_says_how_to_build_it_again(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path)
    index.upsert(PASSAGES, [point(1, "tea")])
    index.close()
    (shard,) = tmp_path.glob("v*/passages")
    (shard / "edge_config.json").write_text("{")

    damaged = EdgeIndex(tmp_path)
    with pytest.raises(Unavailable) as refused:
        damaged.count(PASSAGES, "account")

    assert "backread reindex" in refused.value.hint
    damaged.close()


def test_another_model_keeps_the_words_and_starts_without_vectors(tmp_path: Path) -> None:
    old = EdgeIndex(tmp_path, "old model")
    old.upsert(PASSAGES, [point(1, "tea", [1.0, 0.0]), point(2, "bread", [0.0, 1.0])])
    signature = old.lexical_signature
    old.close()

    new = EdgeIndex(tmp_path, "new model")
    assert new.lexical_signature == signature
    assert found(new, words("tea")) == [1]
    assert found(new, near(1.0, 0.0, 0.0)) == []
    new.upsert(PASSAGES, [point(1, "tea", [0.0, 0.0, 1.0])])
    assert found(new, near(0.0, 0.0, 1.0)) == [1]
    new.close()


def test_a_model_of_the_same_size_is_not_compared_with_the_old_one(tmp_path: Path) -> None:
    old = EdgeIndex(tmp_path, "old model")
    old.upsert(PASSAGES, [point(1, "tea", [1.0, 0.0])])
    old.close()

    new = EdgeIndex(tmp_path, "new model")

    assert found(new, near(1.0, 0.0)) == []
    new.close()


def test_a_model_that_changes_the_length_of_its_vectors_is_refused(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, "model")
    index.upsert(PASSAGES, [point(1, "tea", [1.0, 0.0])])

    with pytest.raises(Unavailable, match="3 numbers"):
        index.upsert(PASSAGES, [point(2, "bread", [1.0, 0.0, 0.0])])
    with pytest.raises(Unavailable, match="3 numbers"):
        index.search(PASSAGES, [near(1.0, 0.0, 0.0)])
    index.close()


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path)
    index.close()

    with pytest.raises(Unavailable, match="closed"):
        index.count(PASSAGES, "account")


def test_the_index_is_for_its_owner_alone(tmp_path: Path) -> None:
    EdgeIndex(tmp_path).close()

    (folder,) = tmp_path.glob("v*")
    assert folder.stat().st_mode & 0o077 == 0


def test_vectors_of_an_index_that_was_made_in_half_precision_are_kept_and_added_to(
    tmp_path: Path,
) -> None:
    index = EdgeIndex(tmp_path, "model")
    index.upsert(PASSAGES, [point(1, "tea")])
    index.close()
    shard = EdgeShard.load(str(tmp_path / f"v{schema.SCHEMA_VERSION}" / PASSAGES))
    shard.update(
        UpdateOperation.create_dense_vector(
            schema.dense_name("model"), 2, Distance.Cosine, datatype=VectorStorageDatatype.Float16
        )
    )
    shard.flush()
    shard.close()

    again = EdgeIndex(tmp_path, "model")
    again.upsert(PASSAGES, [point(2, "coffee", [1.0, 0.0]), point(3, "milk", [0.0, 1.0])])

    assert found(again, near(1.0, 0.0)) == [2, 3]
    again.close()


def test_queries_of_one_call_are_answered_in_the_order_asked(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, "model")
    index.upsert(PASSAGES, [point(1, "tea", [1.0, 0.0]), point(2, "milk", [0.0, 1.0])])
    other = IndexQuery(IndexFilter("account", groups=("elsewhere",)), 10, words="tea")

    asked = [words("milk"), near(1.0, 0.0), other, words("tea"), near(0.0, 1.0)]
    answers = [[each.id for each in hits] for hits in index.search(PASSAGES, asked)]

    assert answers == [[2], [1, 2], [], [1], [2, 1]]
    index.close()
