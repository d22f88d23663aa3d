"""Which language a text is stemmed in. What that does to a search is in the suite of indexes."""

import pytest

from backread.text.stemmers import language_of_text, languages_of_question, stem_in


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The bees fly when the willow blooms, and that is early this year.", "en"),
        ("Die Bienen fliegen, wenn die Weide blüht, und das ist heuer früh.", "de"),
        ("Les abeilles volent quand le saule fleurit, et c'est tôt cette année.", "fr"),
        ("Las abejas vuelan cuando florece el sauce, y eso es pronto este año.", "es"),
        ("As abelhas voam quando o salgueiro floresce, e isso é cedo este ano.", "pt"),
        ("Le api volano quando fiorisce il salice, e questo è presto.", "it"),
        ("De bijen vliegen als de wilg bloeit, en dat is vroeg dit jaar.", "nl"),
        ("Bina flyger när sälgen blommar, och det är tidigt i år.", "sv"),
        ("Bees: willow, 12 frames.", "en"),
        ("No, no! Me too.", "en"),
        ("", "en"),
    ],
)
def test_the_commonest_words_tell_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of_text(text) == language


def test_a_question_is_in_the_language_of_its_little_words() -> None:
    assert languages_of_question("Wann blüht die Weide?") == ("de",)
    assert languages_of_question("When does the willow bloom?") == ("en",)


def test_a_question_without_little_words_may_be_in_any_language() -> None:
    assert {"en", "de", "fr", "tr"} <= set(languages_of_question("Weide Bienen"))


@pytest.mark.parametrize(
    ("word", "stem"),
    [("المدينة", "مدين"), ("книгами", "книг"), ("你好", "你好"), ("hives", "hive")],
)
def test_a_script_that_one_language_is_written_in_decides(word: str, stem: str) -> None:
    assert stem_in(word, "en") == stem
