"""Facts out of Markdown: one statement each, understandable without the text around it.

No model is needed: sentences, list items and table rows are taken apart, and what they lean on
(the subject of the sentence before, the line that introduces a list, headings, column names) is
put into them. Each fact knows the characters of the content that state it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recall.folders.markdown import Block, blocks
from recall.folders.subjects import (
    leans_on_context,
    names_in,
    names_nothing,
    resolved,
    subject_of,
    without_article,
)
from recall.sentences import sentences, stems

PROPOSITIONS_VERSION = 2
MOST = 1000  # of one record

_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？])|;\s+|\n(?=\s*\n)")
_ABBREVIATED = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|no|fig|ca|z\.\s?b|d\.\s?h)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r",?\s+(?:and|but)\s+(?=(?:it|they|he|she)\s+[a-z])")
_FIELD = re.compile(r"(?P<key>[^\s:：][^:：\n]{0,60}?)\s*[:：]\s+(?P<value>\S.*)", re.DOTALL)
_LABEL = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)])?\s*(?:\*\*|__)([^*_\n]{1,80}?)\s*[:：]?(?:\*\*|__)")
_MARK = re.compile(r"\s*(?:[-+*•]|\d{1,9}[.)])?\s*(?:\[[ xX]\]\s+)?")
_FEWEST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Proposition:
    """`start` and `end` are the characters of the content that state it."""

    text: str
    start: int
    end: int


def propositions(name: str, content: str) -> list[Proposition]:
    """The facts that a record states, in its order and without repetitions, `MOST` at most."""
    found: dict[str, Proposition] = {}
    names = names_in(content)
    for block in blocks(content):
        for each in _of_block(name, content, block, names):
            found.setdefault(each.text.casefold(), each)
            if len(found) == MOST:
                return list(found.values())
    return list(found.values())


def _of_block(
    name: str, content: str, block: Block, names: frozenset[str]
) -> Iterator[Proposition]:
    about = _about(name, block)
    if block.kind == "row":
        text = _row(content[block.start : block.end], block.head)
        if text:
            yield Proposition(f"{about}: {text}", block.start, block.end)
    elif block.kind == "item":
        yield from _item(content, block, about, names)
    elif block.kind == "paragraph":
        yield from _paragraph(content, block.start, block.end, about, names)


def _about(name: str, block: Block) -> str:
    """The heading that says what a block is about; below a general one, its parent too."""
    plain = [" ".join(sentences(f"- {each}")) or each for each in block.headings]
    title = plain[0] if plain else name
    inner = plain[-1] if plain else name
    return title if inner == title else f"{title}, {inner[:1].lower()}{inner[1:]}"


def _paragraph(
    content: str, start: int, end: int, about: str, names: frozenset[str]
) -> Iterator[Proposition]:
    subject = without_article(about) if about else ""
    for first, last in _spans(content, start, end):
        text = _plain(content[first:last])
        if not text or text.endswith(("?", "？", ":", "：")):
            continue
        for clause in _clauses(text):
            own = subject_of(clause)
            fact = resolved(clause, subject)
            if own:
                subject = own
            if fact == clause and _needs_heading(clause, about, names):
                fact = f"{about}: {clause}"
            if _says_something(fact):
                yield Proposition(_ended(fact), first, last)


def _item(content: str, block: Block, about: str, names: frozenset[str]) -> Iterator[Proposition]:
    raw = content[block.start : block.end]
    start = block.start + len(_MARK.match(raw)[0])  # type: ignore[index]  # it can be empty
    text = _plain(content[start : block.end])
    if not text or text.endswith(("?", "？")):
        return
    field = _FIELD.fullmatch(text)
    lead = _plain_lead(block.lead) if block.lead else ""
    if lead and _leads(lead):
        fact = _with_lead(lead, text)
        is_known = not names_nothing(lead, names) or not _known(about).isdisjoint(stems(lead))
        yield Proposition(fact if is_known else f"{about}: {fact}", block.start, block.end)
    elif field and (_LABEL.match(raw) or len(field["key"].split()) <= 4):
        yield Proposition(f"{about}: {field['key']}: {field['value']}", block.start, block.end)
    elif text.endswith((".", "!", "。", "！")) and len(text.split()) > _FEWEST_WORDS:
        yield from _paragraph(content, start, block.end, about, names)
    else:
        yield Proposition(f"{about}: {text}", block.start, block.end)


def _leads(lead: str) -> bool:
    """Whether the items of a list say something only together with this line."""
    return _is_open(lead) or subject_of(f"{lead} x") != "" or not names_nothing(lead)


def _with_lead(lead: str, text: str) -> str:
    return f"{lead} {text}" if _is_open(lead) else f"{lead}: {text}"


def _is_open(lead: str) -> bool:
    return lead.split()[-1].lower() in _OPEN_ENDS


# A line that ends with one of these is finished by the item itself.
_OPEN_ENDS = frozenset(
    """is are was were gets get receives receive has have includes include allows allow supports
    support needs need uses use contains contain requires require means to of for with by on in
    at""".split()  # noqa: SIM905
)


def _plain_lead(lead: str) -> str:
    """The last sentence of the introducing paragraph, without marks."""
    last = re.split(r"(?<=[.!?])\s+", lead.strip())[-1]
    return " ".join(sentences(last.rstrip(":： ") + ".")).rstrip(".: ")


def _row(raw: str, head: tuple[str, ...]) -> str:
    cells = [
        _plain(cell) or cell.strip() for cell in re.split(r"(?<!\\)\|", raw.strip().strip("|"))
    ]
    pairs = []
    for index, cell in enumerate(cells):
        column = _plain(head[index]) or head[index] if index < len(head) else ""
        if cell:
            pairs.append(f"{column} {cell}" if column else cell)
    return ", ".join(pairs)


def _plain(raw: str) -> str:
    flat = " ".join(line.strip().lstrip("> ") for line in raw.splitlines())
    return " ".join(sentences(flat))


def _spans(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for border in _END.finditer(content, start, end):
        if _ABBREVIATED.search(content, max(at, border.start() - 8), border.start()):
            continue
        yield at, border.start()
        at = border.end()
    if at < end:
        yield at, end


def _clauses(text: str) -> list[str]:
    """Two statements joined by "and it" apart."""
    return [part.strip() for part in _CLAUSE.split(text) if part and part.strip()]


def _needs_heading(clause: str, about: str, names: frozenset[str]) -> bool:
    """Whether it names nothing that a reader elsewhere could know it by, or is a mere fragment."""
    if leans_on_context(clause) or not _says_something(clause):
        return True
    return names_nothing(clause, names) and _known(about).isdisjoint(stems(clause))


def _known(about: str) -> set[str]:
    return {word for word in stems(about) if len(word) > 2}


def _says_something(text: str) -> bool:
    return len(text.split()) >= _FEWEST_WORDS or not text.isascii()


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "。", "！", "…", '"', "”", ")")) else f"{text}."
