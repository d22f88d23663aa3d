import pytest
from qdrant_edge import (
    Bm25,
    Bm25Config,
    SnowballLanguage,
    SnowballParams,
    StopwordsSet,
    TokenizerType,
)

from backread.vectors.bm25 import encode_document, encode_query

QDRANTS_OWN = Bm25(
    Bm25Config(
        tokenizer=TokenizerType.Multilingual,
        stemmer=SnowballParams(SnowballLanguage.English),
        stopwords=StopwordsSet(languages=set(), custom=set()),
        ascii_folding=True,
        avg_len=256,
        max_token_len=64,
    )
)

TEXTS = [
    "We were moving house; the movers moved everything, moving carefully.",
    "Don't panic: e-mail me@example.org about snake_case and 3.14!",
    "Été à Zürich, naïve façade, “quoted”—and dashed…",
    "我们三月搬到了里斯本的新房子，里斯本很美。",
    "リスボンに引っ越しました。新しい家です。",
    "เราย้ายไปลิสบอนเมื่อเดือนมีนาคม",
    "انتقلنا إلى لشبونة في مارس",
    "Мы переехали в Лиссабон весной",
    "",
    "...",
    "x" * 200,
]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_and_weights_are_those_of_qdrant_itself(text: str) -> None:
    theirs = QDRANTS_OWN.embed_document(text)
    expected = dict(zip(theirs.indices, theirs.values, strict=True))

    ours = encode_document(text)

    assert dict(zip(ours.indices, ours.values, strict=True)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("text", TEXTS)
def test_a_query_has_each_of_its_words_once_with_weight_one(text: str) -> None:
    query = encode_query(text + " " + text)

    assert sorted(query.indices) == sorted(encode_document(text).indices)
    assert set(query.values) <= {1.0}


def test_a_repeated_word_is_counted_each_time() -> None:
    once, often = encode_document("tea bread"), encode_document("tea tea tea bread")
    tea = encode_query("tea").indices[0]

    weight_once = dict(zip(once.indices, once.values, strict=True))[tea]
    weight_often = dict(zip(often.indices, often.values, strict=True))[tea]

    assert weight_once < weight_often < 3 * weight_once


def test_a_korean_word_is_found_inside_one_with_a_particle() -> None:
    assert set(encode_query("리스본").indices) < set(
        encode_document("우리는 리스본으로 갔다").indices
    )


def test_the_cache_of_words_does_not_change_what_comes_out() -> None:
    text = "one-of-a-kind wörd 你好世界 plain"

    assert encode_document(text) == encode_document(text)
