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


def test_a_text_in_another_language_has_the_stems_of_that_language_as_well() -> None:
    text = encode_document("Die Häuser sind alt und stehen auf dem Berg.")

    assert set(encode_query("Haus", ["de"]).indices) < set(text.indices)
    assert set(encode_query("häuser", ["en"]).indices) < set(text.indices)
    assert not set(encode_query("Haus", ["de"]).indices) & set(
        encode_document("The berg has hauser on it.").indices
    )


def test_a_second_stem_makes_a_text_no_longer() -> None:
    alone = encode_document("Die Bank und der Berg sind auf dem Weg")
    with_stems = encode_document("Die Häuser und der Berg sind auf dem Weg")

    assert len(with_stems.indices) == len(alone.indices) + 1
    assert set(with_stems.values) == set(alone.values)


@pytest.mark.parametrize("word", ["stadt", "donaudampfschifffahrtsgesellschaft"])
def test_a_word_with_the_same_stem_in_both_languages_counts_once(word: str) -> None:
    text = encode_document(f"{word} ist nicht mit dem und der")
    assert len(set(text.values)) == 1


def test_a_question_asks_for_the_stems_of_its_language_first() -> None:
    asked = encode_query("Häuser", ["de"])
    (german,) = encode_query("Haus", ["de"]).indices

    weights = dict(zip(asked.indices, asked.values, strict=True))
    assert weights.pop(german) == 1.0
    assert list(weights.values()) == [0.3]


def test_a_word_that_may_be_of_any_language_asks_for_its_english_stem_first() -> None:
    asked = encode_query("Häuser")
    (english,) = encode_query("Häuser", ["en"]).indices

    assert dict(zip(asked.indices, asked.values, strict=True))[english] == 1.0
    assert set(asked.values) == {1.0, 0.3}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("مدينة", "ذهبنا إلى المدينة، ثم عدنا"),
        ("книга", "Мы говорили с книгами"),
        ("κιλό", "δύο κιλά"),
    ],
)
def test_words_of_a_script_of_one_language_are_stemmed_in_it(asked: str, said: str) -> None:
    assert set(encode_query(asked).indices) < set(encode_document(said).indices)


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
