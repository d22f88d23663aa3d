"""Names, summaries and pointers of the categories of a bucket.

Without a language model a summary is a choice of the memories' own sentences. With one it writes
the name and the sentences; each is kept only if the memories that it names bear it out, and if
too little is left, Backread's own stays.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import BaseModel, Field

from backread.llm.language.model import LanguageModel, LanguageModelFailure
from backread.llm.language.prompt import Data, Prompt
from backread.store.models import Category
from backread.text.extracting import choose_sentences
from backread.text.language import language_of
from backread.tokens import estimate_tokens
from recall.categories.naming import (
    REST_NAME,
    WHOLE_NAME,
    Embed,
    by_relevance,
    keeps_name,
    new_name,
)
from recall.categories.sorting import GROUP, REST
from recall.grouping.clustering import Vectors, centred, unit
from recall.grouping.phrases import Phrase, distinctive
from recall.sentences import sentences
from recall.summarising.support import Evidence, check

SUMMARY_WORDS = 200
_SUMMARY_TOKENS = 270  # of about 200 words
_MOST_POINTERS = 8
_LEAST_TYPICAL = 0.2  # of a memory at the edge of its category
_FALLBACK_CHARACTERS = 40
_MODEL_SENTENCES = 8
_MODEL_TOKENS = 700
_NAME_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Member:
    id: str
    text: str
    text_hash: str


@dataclass
class Draft:
    """A category on its way. `former` is what it was before, if it was."""

    category: Category
    members: list[Member]
    former: Category | None
    phrases: list[Phrase] = field(default_factory=list)

    @property
    def members_hash(self) -> str:
        told = "\n".join(sorted(f"{each.id} {each.text_hash}" for each in self.members))
        return hashlib.sha256(told.encode()).hexdigest()

    @property
    def is_unchanged(self) -> bool:
        return self.former is not None and self.former.members_hash == self.members_hash


def write_all(drafts: Sequence[Draft], vectors: Sequence[Vectors], embed: Embed) -> None:
    """Gives each draft its name, summary and pointers, in Backread's own way. `vectors` hold those
    of each draft's members, a row each. Raises Unavailable when the embedding model is away."""
    texts = [member.text for draft in drafts for member in draft.members]
    places, start = [], 0
    for draft in drafts:
        places.append(range(start, start + len(draft.members)))
        start += len(draft.members)
    mean = np.concatenate(vectors).mean(axis=0)
    for draft, ranked in zip(drafts, distinctive(texts, places, most=24), strict=True):
        draft.phrases = ranked
    taken = {REST_NAME.lower(), WHOLE_NAME.lower()}
    renamed = []
    for draft, rows in zip(drafts, vectors, strict=True):
        if not _keep_name(draft, taken):
            renamed.append((draft, rows))
    for draft, rows in renamed:
        _name(draft, rows, mean, embed, taken)
    start = 0
    for draft, rows in zip(drafts, vectors, strict=True):
        _describe(draft, rows, start)
        start += len(draft.members)


def _keep_name(draft: Draft, taken: set[str]) -> bool:
    former, category = draft.former, draft.category
    if category.kind != GROUP:
        category.name = REST_NAME if category.kind == REST else WHOLE_NAME
        category.phrases, category.written_by = [], ""
        return True
    if former is None or former.kind != GROUP:
        return False
    texts = [each.text for each in draft.members]
    fits = draft.is_unchanged or (former.written_by and not former.phrases)
    if not fits and not keeps_name(former.phrases, draft.phrases, texts):
        return False
    category.name, category.phrases = former.name, list(former.phrases)
    category.written_by = former.written_by
    taken.add(category.name.lower())
    return True


def _name(draft: Draft, rows: Vectors, mean: Vectors, embed: Embed, taken: set[str]) -> None:
    centre = unit(centred(rows, mean).mean(axis=0))
    relevant = by_relevance(draft.phrases, centre, mean, embed)
    words = draft.members[0].text.split()
    fallback = " ".join(words)[:_FALLBACK_CHARACTERS].rstrip(" ,.;:") or REST_NAME
    draft.category.name, draft.category.phrases = new_name(relevant, taken, fallback)
    draft.category.written_by = ""
    taken.add(draft.category.name.lower())


def _describe(draft: Draft, rows: Vectors, start: int) -> None:
    category, former = draft.category, draft.former
    category.pointers = [
        {
            "phrase": phrase.surface,
            "memories": [draft.members[place - start].id for place in phrase.texts],
        }
        for phrase in draft.phrases[:_MOST_POINTERS]
        if len(phrase.texts) > 1 or len(draft.members) < 4
    ]
    category.members_hash = draft.members_hash
    if draft.is_unchanged and former is not None:
        category.summary, category.is_pending = list(former.summary), former.is_pending
        return
    category.summary = extractive(draft.members, rows)


def extractive(members: Sequence[Member], rows: Vectors) -> list[dict[str, Any]]:
    """About 200 words in sentences of the memories, each with the memory that says it."""
    said: list[tuple[int, str]] = []
    for place, member in enumerate(members):
        found = list(sentences(member.text)) or [" ".join(member.text.split())]
        said += [(place, each) for each in found]
    typical = rows @ unit(rows.mean(axis=0))
    weights = np.clip(typical / max(float(typical.max()), 1e-6), _LEAST_TYPICAL, 1.0) ** 2
    chosen = choose_sentences(
        [text for _, text in said],
        budget_tokens=_SUMMARY_TOKENS,
        vectors=rows[[place for place, _ in said]],
        weights=[float(weights[place]) for place, _ in said],
        overhead_tokens=0,
    )
    return [_statement(said[n][1], [members[said[n][0]]]) for n in chosen]


def _statement(text: str, members: Sequence[Member]) -> dict[str, Any]:
    return {"text": text, "memories": [[each.id, each.text_hash] for each in members]}


class WrittenSentence(BaseModel):
    text: str
    notes: list[int] = Field(description="Numbers of the notes that say it.")


class WrittenCategory(BaseModel):
    """What a language model makes of a category."""

    name: str
    sentences: list[WrittenSentence]


def write_with_model(draft: Draft, model: LanguageModel, account_id: str) -> None:
    """Has the language model write the draft's name and summary over Backread's own. A category
    that did not change and was written by this model is left alone; so is the rest's name."""
    category = draft.category
    if draft.is_unchanged and category.written_by == model.name and not category.is_pending:
        return
    try:
        written = _ask(draft, model, account_id)
    except LanguageModelFailure:
        category.is_pending = True
        return
    category.is_pending = False
    kept = _borne_out(written, draft.members)
    if not kept:
        return
    category.summary = kept
    category.written_by = model.name
    name = " ".join(written.name.split()).strip(' ."“”*#')
    has_own_name = category.kind == GROUP and category.written_by != (
        draft.former.written_by if draft.former else ""
    )
    if name and len(name) <= _NAME_CHARACTERS and has_own_name:
        category.name, category.phrases = name, []


def _ask(draft: Draft, model: LanguageModel, account_id: str) -> WrittenCategory:
    values = {"sentences": _MODEL_SENTENCES, "words": SUMMARY_WORDS}
    prompt = Prompt("name_category", values=values)
    left = model.room(prompt, _MODEL_TOKENS)
    data: list[Data] = []
    for number, member in enumerate(draft.members, 1):
        left -= estimate_tokens(member.text) + 30
        if left < 0:
            break
        data.append(Data(member.text, f"note {number}"))
    return model.complete(
        Prompt("name_category", values=values, data=data),
        account_id=account_id,
        result=WrittenCategory,
        max_output_tokens=_MODEL_TOKENS,
    )


def _borne_out(written: WrittenCategory, members: Sequence[Member]) -> list[dict[str, Any]]:
    """The sentences that the memories they name bear out."""
    kept = []
    tokens = 0
    for sentence in written.sentences:
        named = [members[n - 1] for n in dict.fromkeys(sentence.notes) if 0 < n <= len(members)]
        evidence = [Evidence(each.text) for each in named]
        language = language_of(sentence.text).code
        if not named or not check(sentence.text, evidence, language=language).is_supported:
            continue
        tokens += estimate_tokens(sentence.text)
        if tokens > 2 * _SUMMARY_TOKENS:
            break
        kept.append(_statement(" ".join(sentence.text.split()), named))
    return kept
