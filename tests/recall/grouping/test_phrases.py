"""What sets a group of texts apart, in any language."""

import pytest

from recall.grouping.phrases import distinctive, find_phrases, holds, name_from
from tests.recall.categories.lives import CELLO, GARDEN, TRAIN


def surfaces(text: str) -> set[str]:
    return set(find_phrases(text).values())


def test_a_name_is_made_of_what_only_this_group_says() -> None:
    texts = [*GARDEN, *CELLO, *TRAIN]
    groups = [range(5), range(5, 10), range(10, 15)]
    names = [name_from(each)[0].lower() for each in distinctive(texts, groups)]
    for name, word in zip(names, ("garden", "cello", "train"), strict=True):
        assert word in name
        assert not {"garden", "cello", "train"} - {word} & set(name.split())


def test_common_words_and_numbers_name_nothing() -> None:
    assert surfaces("I would like to use it on Monday at 12:30, and then you and me") == set()
    assert surfaces("Ich möchte das am Dienstag und immer mit der") == set()


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Der Chor probt donnerstags in der Kirche", "Chor probt donnerstags"),
        ("L'hôtel à Kyoto", "hôtel"),
        ("我在后院种了黄瓜和茄子", "黄瓜"),
        ("カメラは富士で、レンズは35ミリ", "カメラ"),
        ("서울에서 커피를 마셔요", "서울"),
        ("Nora's teacher answers", "Nora teacher answers"),
        ("The PostgreSQL index on customer_id", "PostgreSQL index"),
    ],
)
def test_phrases_of_many_languages_are_found_as_they_are_written(text: str, phrase: str) -> None:
    assert phrase in surfaces(text)


def test_a_phrase_is_held_in_another_inflection() -> None:
    assert holds("Two raised beds stand behind the shed.", "raised bed")
    assert not holds("The bed was raised by a crane and painted.", "raised bed")
    assert holds("院子里的番茄", "番茄")


def test_the_phrases_of_a_name_do_not_repeat_each_other() -> None:
    texts = ["night train ticket", "night train bed", "night train window", "other thing entirely"]
    (ranked, _) = distinctive(texts, [range(3), range(3, 4)])
    _, parts = name_from(ranked)
    words = [word for part in parts for word in part.split()]
    assert len(words) == len(set(words))


def test_texts_without_any_word_have_no_phrases() -> None:
    assert surfaces("") == surfaces("… !!! 🙂") == set()
    assert distinctive(["…", "!"], [range(2)]) == [[]]
    assert name_from([]) == ("", [])
