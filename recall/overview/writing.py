"""The portrait in prose, by a language model. Each sentence is kept only if the findings that it
names bear it out; it then carries their citations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from backread.llm.language.model import LanguageModel
from backread.llm.language.prompt import Data, Prompt
from backread.text.language import language_of
from backread.tokens import estimate_tokens
from recall.overview.sensitive import is_sensitive
from recall.summarising.support import Evidence, check

_SENTENCES = 9
_ANSWER_TOKENS = 900
_MOST_CITED = 6


class WrittenSentence(BaseModel):
    text: str
    findings: list[int] = Field(description="Numbers of the findings that say it.")


class WrittenPortrait(BaseModel):
    """What a language model makes of the findings."""

    sentences: list[WrittenSentence]


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    text: str
    cited: list[list[str]]


def write_prose(
    portrait: Mapping[str, Any], model: LanguageModel, account_id: str
) -> list[dict[str, Any]]:
    """Sentences with what they cite; none when there is nothing to tell. Raises
    LanguageModelFailure."""
    findings = list(_findings(portrait))
    if not findings:
        return []
    language = language_of("\n".join(each.text for each in findings if each.kind != "how"))
    values: dict[str, str | int] = {"sentences": _SENTENCES, "language": language.name_for_prompt}
    left = model.room(Prompt("portray_person", values=values), _ANSWER_TOKENS)
    data: list[Data] = []
    for number, finding in enumerate(findings, 1):
        left -= estimate_tokens(finding.text) + 30
        if left < 0:
            break
        data.append(Data(finding.text, f"finding {number}, {finding.kind}"))
    written = model.complete(
        Prompt("portray_person", values=values, data=data),
        account_id=account_id,
        result=WrittenPortrait,
        max_output_tokens=_ANSWER_TOKENS,
    )
    return _borne_out(written, findings[: len(data)])


def _findings(portrait: Mapping[str, Any]) -> Iterator[Finding]:
    for each in portrait["topics"]:
        since, until = (each["first"] or "")[:10], (each["last"] or "")[:10]
        told = f"{each['name']}. {', '.join(each['phrases'])}"
        yield Finding(
            "topic", f"{told}. {each['count']} conversations, {since} to {until}.", each["cited"]
        )
    for key, kind in (("people", "person"), ("projects", "project"), ("tools", "tool")):
        for each in portrait[key]:
            yield Finding(kind, f"{each['name']}, in {each['count']} conversations", each["cited"])
    for each in portrait["style"]:
        yield Finding("how", each["text"], each["cited"])
    for each in portrait["said"]:
        yield Finding("own sentence", f"{(each['at'] or '')[:10]}: {each['text']}", each["cited"])


def _borne_out(written: WrittenPortrait, findings: Sequence[Finding]) -> list[dict[str, Any]]:
    kept = []
    for sentence in written.sentences:
        named = [
            findings[n - 1] for n in dict.fromkeys(sentence.findings) if 0 < n <= len(findings)
        ]
        text = " ".join(sentence.text.split())
        if not named or is_sensitive(text):
            continue
        evidence = [Evidence(each.text) for each in named]
        if not check(text, evidence, language=language_of(text).code).is_supported:
            continue
        cited = [place for each in named for place in each.cited]
        unique = [list(place) for place in dict.fromkeys(map(tuple, cited))]
        kept.append({"text": text, "cited": unique[:_MOST_CITED]})
    return kept
