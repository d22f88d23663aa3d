"""What the OpenAI client raises, by meaning."""

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from backread.llm.language.model import LanguageModelUnavailable, Why

_REJECTED = frozenset({400, 404, 422})
_MOST_SECONDS = 3600.0
_HINTS = {
    401: "Check BACKREAD_LLM_API_KEY.",
    403: "Check BACKREAD_LLM_API_KEY and what it may do.",
    404: "Check BACKREAD_LLM_MODEL and BACKREAD_LLM_BASE_URL.",
}


@dataclass(frozen=True, slots=True)
class Failure:
    why: Why
    message: str
    hint: str = ""
    status: int = 0
    retry_after_seconds: float = 0.0

    def as_error(self) -> LanguageModelUnavailable:
        return LanguageModelUnavailable(
            self.message,
            why=self.why,
            hint=self.hint,
            retry_after_seconds=self.retry_after_seconds,
        )


def rejected(error: APIError) -> bool:
    """Whether the server understood the request and does not take it. llama-cpp-python answers
    500 to a form of answer that it does not know."""
    if not isinstance(error, APIStatusError):
        return False
    is_about_form = error.status_code == 500 and "response_format" in str(error)
    return is_about_form or error.status_code in _REJECTED


def failure_of(error: APIError, base_url: str) -> Failure:
    """Never quotes what the server said: it may repeat what it was sent."""
    if isinstance(error, APITimeoutError):
        return Failure(
            Why.TIMEOUT,
            "The language model did not answer in time.",
            "A slow model needs a higher BACKREAD_LLM_TIMEOUT_SECONDS.",
        )
    if isinstance(error, APIConnectionError):
        return Failure(
            Why.UNREACHABLE,
            f"The language model at {base_url} cannot be reached.",
            "Check BACKREAD_LLM_BASE_URL and that it runs.",
        )
    if isinstance(error, APIStatusError):
        return _by_status(error)
    return Failure(Why.BAD_OUTPUT, "The language model's server gave an answer without sense.")


def _by_status(error: APIStatusError) -> Failure:
    status = error.status_code
    pause = _retry_after(error)
    if status == 429:
        message = "The language model's server says that it was asked too often."
        return Failure(Why.BUSY, message, status=status, retry_after_seconds=pause)
    if status >= 500 or status in {408, 409}:
        message = f"The language model's server failed with status {status}."
        return Failure(Why.SERVER_ERROR, message, status=status, retry_after_seconds=pause)
    return Failure(
        Why.REJECTED,
        f"The language model's server refused with status {status}.",
        _HINTS.get(status, "Check the BACKREAD_LLM_… settings; the model must be a chat model."),
        status=status,
    )


def _retry_after(error: APIStatusError) -> float:
    """Seconds, from either form that RFC 9110 allows; 0 when there is none."""
    value = error.response.headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return 0.0
    return min(max(0.0, seconds), _MOST_SECONDS) if seconds == seconds else 0.0


def unusable(problem: str, *, is_empty: bool) -> LanguageModelUnavailable:
    """After the one repair."""
    return LanguageModelUnavailable(
        "The language model gave no answer."
        if is_empty
        else f"The language model's answer cannot be used. {problem}",
        why=Why.EMPTY if is_empty else Why.BAD_OUTPUT,
        hint="Small models often cannot keep to a form; a larger one can.",
    )
