from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from backread.domain import MessageKind, ParsedConversation, ParsedMessage, Platform, Role
from backread.store.repositories.passages import PassageRow
from backread.tokens import estimate_tokens
from ingest.importers.chatgpt import CHATGPT
from ingest.merge import first_copy
from ingest.passages import PASSAGE_TOKENS, cut, passages_of
from tests.ingest.exports import chatgpt


def _parts(text: str) -> list[str]:
    return [text[start:end] for start, end in cut(text)]


def _passages(parsed: ParsedConversation) -> list[PassageRow]:
    merged = first_copy(
        parsed, account_id="a", conversation_id="c" * 26, capture_id="", parser_version=1
    )
    return passages_of(merged.conversation, merged.line)


def test_a_short_text_is_one_part() -> None:
    assert _parts("One line.\n\nAnother.") == ["One line.\n\nAnother."]


def test_a_long_text_is_cut_between_paragraphs() -> None:
    paragraphs = [f"Paragraph {n}. " + "The kiln cools slowly. " * 12 for n in range(12)]
    parts = _parts("\n\n".join(paragraphs))
    assert len(parts) > 2
    assert all(part.startswith("Paragraph") for part in parts)
    assert all(estimate_tokens(part) <= PASSAGE_TOKENS * 1.3 for part in parts)


def test_a_code_block_that_fits_is_not_cut() -> None:
    prose = "Clay shrinks as it dries. " * 25
    code = "```python\n" + "\n\n".join(f"step_{n}()" for n in range(30)) + "\n```"
    parts = _parts(f"{prose}\n\n{code}\n\n{prose}")
    assert sum("```python" in part for part in parts) == 1
    holder = next(part for part in parts if "```python" in part)
    assert holder.count("```") == 2


def test_a_long_line_is_cut_between_sentences_then_words_then_anywhere() -> None:
    assert all(part.endswith(".") for part in _parts("The glaze ran off. " * 200))
    assert all(not part.startswith("laze") for part in _parts("glaze " * 800))
    assert "".join(_parts("x" * 5000)) == "x" * 5000


def test_text_without_spaces_is_cut_after_its_own_full_stop() -> None:
    parts = _parts("今日は東京で花見をしました。" * 60)
    assert len(parts) > 2
    assert all(part.endswith("。") for part in parts)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab .\n`日😀", max_size=3000))
def test_parts_cover_everything_but_blanks_and_never_overlap(text: str) -> None:
    spans = list(cut(text, limit=16))
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())


def test_passages_are_the_dialogue_of_the_shown_line_with_speaker_date_and_title() -> None:
    question, answer = _passages(CHATGPT.parse(chatgpt(title="Swifts over town")))
    assert question.text == "When do swifts leave?"
    assert "User" in question.heading
    assert "ChatGPT" in answer.heading
    assert "5 March 2024" in answer.heading
    assert "Swifts over town" in answer.heading


def test_a_message_without_a_time_takes_the_conversations() -> None:
    message = ParsedMessage("m", None, Role.USER, MessageKind.DIALOGUE, "No clock here.")
    parsed = CHATGPT.parse(chatgpt())
    (passage,) = _passages(
        ParsedConversation(
            platform=Platform.CHATGPT,
            external_id="c",
            title="",
            messages=[message],
            shown_line=["m"],
            created_at=parsed.created_at,
        )
    )
    assert passage.occurred_at == parsed.created_at
