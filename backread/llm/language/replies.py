"""What a server sent back, read leniently: compatible servers leave out what they do not have."""

import json
from dataclasses import dataclass
from typing import Any

from backread.llm.language.model import LanguageModelUnavailable, Usage, Why


@dataclass(frozen=True, slots=True)
class Reply:
    """`usage` is None when the server did not say."""

    text: str
    is_cut: bool
    refusal: bool
    usage: Usage | None


def read_reply(content: bytes) -> Reply:
    """Raises LanguageModelUnavailable for what is no chat completion at all."""
    try:
        body = json.loads(content)
        choice = body["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise LanguageModelUnavailable(
            "The server answered with something that is no chat completion.",
            why=Why.BAD_OUTPUT,
            hint="Check BACKREAD_LLM_BASE_URL; it usually ends in /v1.",
        ) from error
    finish = choice.get("finish_reason")
    return Reply(
        text=text,
        is_cut=finish == "length",
        refusal=bool(message.get("refusal")) or finish == "content_filter",
        usage=_usage(body.get("usage")),
    )


def _text(content: Any) -> str:
    """Some servers answer in parts, of which the thoughts are no part of the answer."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return str(content or "")


def _usage(usage: Any) -> Usage | None:
    try:
        tokens_in, tokens_out = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (KeyError, TypeError, ValueError):
        return None
    if tokens_in <= 0 or tokens_out < 0:
        return None
    return Usage(tokens_in, tokens_out)
