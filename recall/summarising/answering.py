"""An answer to a question in whole sentences, by the language model, from passages that were
found; every sentence checked against the passages that it cites."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from backread.kernel import Kernel
from backread.llm.language.model import LanguageModel, LanguageModelFailure
from backread.llm.language.prompt import Data, Prompt
from backread.log import get_logger
from backread.store.repositories.retrieval import FoundPassage
from backread.text.cleaning import clean
from backread.text.language import language_of
from backread.tokens import estimate_tokens
from recall.rendering import day
from recall.summarising.support import Evidence, check, most_alike

ANSWER_SECONDS = 15.0  # a person waits; after that the extractive answer is the better one

_TOKENS_A_SENTENCE = 45
_OVERHEAD_TOKENS = 10  # of the citation of a sentence
_MOST_CITED = 4
_MOST_SENTENCES = 14
_PROMPT = Prompt("answer_question")

_log = get_logger(__name__)


class _Said(BaseModel):
    text: str
    passages: list[int]


class _Answer(BaseModel):
    sentences: list[_Said] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that its passages support."""

    text: str
    passages: Sequence[FoundPassage]


def answer_from(
    kernel: Kernel,
    account_id: str,
    question: str,
    passages: Sequence[FoundPassage],
    *,
    max_tokens: int,
    timeout_seconds: float = ANSWER_SECONDS,
) -> list[AnswerSentence] | None:
    """Sentences inside `max_tokens`, citations included; an empty list when the model finds no
    answer in the passages.

    None means: do without. There is no model, it failed, the budget is spent, or nothing that it
    said was supported. Never raises for any of that. Not to be called in a write transaction.
    """
    model = kernel.language_model
    if model is None or not passages:
        return None
    most = max(1, min(_MOST_SENTENCES, max_tokens // _TOKENS_A_SENTENCE))
    shown = _that_fit(model, question, passages, most)
    prompt = _prompt(question, shown, most)
    try:
        said = model.complete(
            prompt,
            account_id=account_id,
            result=_Answer,
            max_output_tokens=_output_tokens(model, most),
            timeout_seconds=timeout_seconds,
        )
    except LanguageModelFailure as failure:
        _log.info("answer_without_model", why=failure.why)
        return None
    kept = _supported(kernel, said.sentences, shown)
    if said.sentences and not kept:
        return None
    return _within(kept, max_tokens)


def _supported(
    kernel: Kernel, said: Sequence[_Said], shown: Sequence[FoundPassage]
) -> list[AnswerSentence]:
    texts = [Evidence(each.text, day(each.occurred_at)) for each in shown]
    language = language_of(" ".join(each.text for each in said)).code
    kept: list[AnswerSentence] = []
    for each in said:
        text = " ".join(clean(each.text).split())
        places = [n - 1 for n in dict.fromkeys(each.passages) if 1 <= n <= len(shown)]
        if not places:
            place = most_alike(text, [piece.text for piece in texts])
            places = [] if place < 0 else [place]
        places = places[:_MOST_CITED]
        if not text or not places:
            continue
        verdict = check(
            text,
            [texts[n] for n in places],
            language=language,
            embed=kernel.embedder.embed_passages,
        )
        if verdict.is_supported:
            kept.append(AnswerSentence(text, [shown[places[n]] for n in verdict.cited]))
    return kept


def _within(sentences: Sequence[AnswerSentence], max_tokens: int) -> list[AnswerSentence]:
    left = max_tokens
    kept = []
    for each in sentences:
        cost = estimate_tokens(each.text) + _OVERHEAD_TOKENS
        if cost <= left:
            kept.append(each)
            left -= cost
    return kept


def _that_fit(
    model: LanguageModel, question: str, passages: Sequence[FoundPassage], most: int
) -> list[FoundPassage]:
    """The best passages, as many as the model takes."""
    left = model.room(_prompt(question, [], most), _output_tokens(model, most))
    shown = []
    for each in passages:
        cost = Prompt(_PROMPT.purpose, values=_values(most), data=[_data(1, each)]).tokens
        cost -= Prompt(_PROMPT.purpose, values=_values(most)).tokens
        if cost > left:
            break
        shown.append(each)
        left -= cost
    return shown


def _prompt(question: str, shown: Sequence[FoundPassage], most: int) -> Prompt:
    data = [
        Data(question, "the question"),
        *(_data(n, each) for n, each in enumerate(shown, 1)),
    ]
    return Prompt(_PROMPT.purpose, _PROMPT.version, _values(most), data)


def _data(number: int, passage: FoundPassage) -> Data:
    kind = f"{passage.role}'s document" if passage.document else passage.role
    return Data(passage.text, f"passage {number}, {kind}, {day(passage.occurred_at)}")


def _values(most: int) -> dict[str, str | int]:
    return {"sentences": most}


def _output_tokens(model: LanguageModel, most: int) -> int:
    return min(200 + 2 * most * _TOKENS_A_SENTENCE, model.context_tokens // 4)
