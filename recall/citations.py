"""How statements are set down: by source, each with who said it, when, and in answer to what."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from backread.domain import Role
from backread.store.repositories.retrieval import FoundPassage
from backread.tokens import estimate_tokens
from recall.rendering import clean, day, one_line
from recall.sentences import sentences
from recall.synthesis import SENTENCE_ENDS, SPEAKER_OVERHEAD, Statement, Synthesis

Place = tuple[str, int]  # conversation id, position

_LOOK_BACK = 3  # passages; a question that stands further up is not the one being answered
_QUESTION_CHARACTERS = 160
_NAME_CHARACTERS = 60
_UNNAMED = {"User", "Assistant", ""}


def question_places(syntheses: Sequence[Synthesis]) -> set[Place]:
    """Where the questions may stand that the statements of assistants answer."""
    return {
        (each.passage.conversation_id, each.passage.position - distance)
        for synthesis in syntheses
        for each in synthesis.statements
        if each.passage.role != Role.USER and not each.passage.document
        if not each.is_worded
        for distance in range(1, _LOOK_BACK + 1)
        if each.passage.position >= distance
    }


def with_questions(synthesis: Synthesis, passages: Mapping[Place, FoundPassage]) -> Synthesis:
    """An assistant's first statement of each message gets the question it answers, unless that is
    quoted itself or the budget has no room for it."""
    quoted = {each.passage.message_id for each in synthesis.statements}
    left = synthesis.left
    answered: set[str] = set()
    statements = []
    for each in synthesis.statements:
        message_id = each.passage.message_id
        is_reply = each.passage.role != Role.USER and not each.passage.document
        if is_reply and message_id not in answered and not each.is_worded:
            answered.add(message_id)
            before = _question_before(each.passage, passages)
            if before is not None and before.message_id not in quoted:
                asked = _gist(before.text)
                cost = estimate_tokens(asked) + SPEAKER_OVERHEAD
                if asked and cost <= left:
                    each = replace(each, asked=asked)
                    left -= cost
        statements.append(each)
    return Synthesis(statements, left)


def _question_before(
    passage: FoundPassage, passages: Mapping[Place, FoundPassage]
) -> FoundPassage | None:
    for distance in range(1, _LOOK_BACK + 1):
        before = passages.get((passage.conversation_id, passage.position - distance))
        if before is None:
            return None
        if before.role == Role.USER:
            return before
    return None


def _gist(text: str) -> str:
    """The sentence of a message that asks; of one that asks nothing, the first."""
    said = list(sentences(text))
    asking = next((each for each in reversed(said) if each.endswith(("?", "？"))), None)
    return one_line(asking or (said[0] if said else ""), _QUESTION_CHARACTERS)


def speaker(passage: FoundPassage) -> str:
    """Who said it, with a name where the chat has one, and in which document beside the chat.
    Never a bare role, which could be taken for the mark of a turn."""
    said_by = "the user" if passage.role == Role.USER else "the assistant"
    name = passage.heading.split(" (", 1)[0].split(" · ", 1)[0]
    if name not in _UNNAMED:
        said_by = f"{said_by} {one_line(name, _NAME_CHARACTERS)}"
    if not passage.document:
        return said_by
    return f"{said_by}, in the document “{one_line(passage.document, _NAME_CHARACTERS)}”"


def render(statements: Sequence[Statement], source_of: Mapping[str, int], zone: tzinfo) -> str:
    """A line with title and day for each source and one for each message under it, which ends
    with the source's number; statements that differ stand together at the end. Dates are the
    zone's."""
    if any(each.is_worded for each in statements):
        return "\n".join(_worded(each, source_of) for each in statements)
    lines: list[str] = []
    differing: dict[int, list[Statement]] = {}
    source, message = "", ("", "")
    shown_day = ""
    for each in statements:
        passage = each.passage
        if each.conflict:
            differing.setdefault(each.conflict, []).append(each)
            continue
        mark = f" [{source_of[passage.conversation_id]}]"
        if passage.conversation_id != source:
            source, message = passage.conversation_id, ("", "")
            shown_day = day(passage.occurred_at, zone)
            title = one_line(passage.title)
            lines.append(f"- “{title}”, {shown_day}:" if title else f"- {shown_day}:")
        if (passage.message_id, passage.document) == message:
            said = lines[-1].removesuffix(mark)
            # Items of a list have no end of their own.
            gap = " " if said.endswith(SENTENCE_ENDS) and said[-1] != ")" else "; "
            lines[-1] = f"{said}{gap}{clean(each.text)}{mark}"
            continue
        message = passage.message_id, passage.document
        lines.append(f"  {_lead(each, shown_day, zone)}: {clean(each.text)}{mark}")
        shown_day = day(passage.occurred_at, zone)
    for pair in differing.values():
        lines.append("- These differ; the later one is last:")
        for each in sorted(pair, key=_moment):
            number = source_of[each.passage.conversation_id]
            lines.append(f"  {_lead(each, '', zone)}: {clean(each.text)} [{number}]")
    return "\n".join(lines)


def _worded(statement: Statement, source_of: Mapping[str, int]) -> str:
    passages = (statement.passage, *statement.others)
    numbers = dict.fromkeys(source_of[each.conversation_id] for each in passages)
    return f"- {clean(statement.text)} {''.join(f'[{number}]' for number in numbers)}"


def _lead(statement: Statement, shown_day: str, zone: tzinfo) -> str:
    said_on = day(statement.passage.occurred_at, zone)
    lead = speaker(statement.passage)
    if said_on != shown_day:
        lead = f"{said_on}, {lead}"
    return f"{lead}, asked “{statement.asked}”" if statement.asked else lead


def _moment(statement: Statement) -> float:
    moment: datetime | None = statement.passage.occurred_at
    return moment.timestamp() if moment else 0.0
