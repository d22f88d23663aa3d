"""A language model behind `POST <base URL>/chat/completions`: OpenAI, Azure, Ollama, llama.cpp,
vLLM, and whatever else speaks that protocol."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from openai import APIError, APIStatusError, AzureOpenAI, OpenAI
from pydantic import BaseModel

from backread.errors import InvalidInput
from backread.llm.language.dialect import Dialect
from backread.llm.language.failures import Failure, failure_of, rejected, unusable
from backread.llm.language.gate import Gate
from backread.llm.language.ledger import Ledger, PlannedCall
from backread.llm.language.model import Answer, LanguageModelUnavailable, Usage, Why
from backread.llm.language.pricing import price_of
from backread.llm.language.prompt import Prompt
from backread.llm.language.replies import Reply, read_reply
from backread.llm.language.structured import UnusableAnswer, form_in_words, read_answer
from backread.llm.texts import sendable
from backread.log import get_logger
from backread.settings import Settings
from backread.tokens import estimate_tokens

DEFAULT_BASE_URL = "https://api.openai.com/v1"

_TRIES = {Why.BUSY: 4, Why.SERVER_ERROR: 3, Why.UNREACHABLE: 3, Why.TIMEOUT: 2}
_PATIENCE_SECONDS = 30.0  # the longest pause that is waited for; after more, the caller decides
_MOST_REFUSED_FORMS = 6
_REPEATED_CHARACTERS = 4_000  # of an unusable answer that the model is shown again

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Call:
    """One request, and on whose account."""

    prompt: Prompt
    account_id: str
    result: type[BaseModel]
    messages: list[dict[str, str]]
    max_output_tokens: int
    until: float | None  # monotonic

    @property
    def tokens_in(self) -> int:
        return self.prompt.tokens + sum(
            estimate_tokens(each["content"]) for each in self.messages[2:]
        )

    def seconds_left(self, most: float) -> float:
        return most if self.until is None else min(most, self.until - time.monotonic())


class OpenAICompatibleModel:
    """See `LanguageModel`. Raises InvalidInput for settings that cannot be used."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        *,
        sleep: Callable[[float], None] = time.sleep,
        gate: Gate | None = None,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._sleep = sleep
        self._gate = gate or Gate(settings.llm_concurrency)
        self._price = price_of(settings)
        self._dialect = Dialect()
        self._client = _client(settings)

    @property
    def name(self) -> str:
        return self._settings.llm_model

    @property
    def context_tokens(self) -> int:
        return self._settings.llm_context_tokens

    def room(self, prompt: Prompt, max_output_tokens: int) -> int:
        # The form in words and the server's own template take some as well.
        return self.context_tokens - prompt.tokens - max_output_tokens - self.context_tokens // 8

    def complete(
        self,
        prompt: Prompt,
        *,
        account_id: str,
        result: type[Answer],
        max_output_tokens: int,
        timeout_seconds: float | None = None,
    ) -> Answer:
        if prompt.tokens + max_output_tokens > self.context_tokens:
            raise LanguageModelUnavailable(
                f"About {prompt.tokens + max_output_tokens:,} tokens do not fit into the "
                f"{self.context_tokens:,} of the model.",
                why=Why.TOO_LARGE,
                hint="Raise BACKREAD_LLM_CONTEXT_TOKENS if the model takes more.",
            )
        until = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        messages = prompt.messages(further=form_in_words(result))
        call = _Call(prompt, account_id, result, messages, max_output_tokens, until)
        reply = self._answer(call)
        try:
            return read_answer(reply.text, result)
        except UnusableAnswer as problem:
            said = [
                {"role": "assistant", "content": reply.text[:_REPEATED_CHARACTERS] or "(empty)"},
                {
                    "role": "user",
                    "content": f"{problem} Answer again, with the JSON object alone.",
                },
            ]
            _log.warning("language_model_repair", purpose=prompt.purpose)
            reply = self._answer(replace(call, messages=[*messages, *said]))
        try:
            return read_answer(reply.text, result)
        except UnusableAnswer as problem:
            raise unusable(str(problem), is_empty=not reply.text.strip()) from problem

    def _answer(self, call: _Call) -> Reply:
        """A reply that is whole. Raises when the model refuses, or has no room to finish even
        after it was given twice as much."""
        reply = self._ask(call)
        if reply.is_cut and not _is_readable(reply, call):
            most = min(2 * call.max_output_tokens, self.context_tokens - call.tokens_in)
            if most > call.max_output_tokens:
                reply = self._ask(replace(call, max_output_tokens=most))
        if reply.refusal:
            raise LanguageModelUnavailable(
                "The model refused.",
                why=Why.REFUSED,
                hint="Its makers' rules forbid something in this text. Nothing needs to be done.",
            )
        if reply.is_cut and not _is_readable(reply, call):
            raise LanguageModelUnavailable(
                "The model's answer was cut off, also with twice the room.",
                why=Why.TRUNCATED,
                hint="A model that thinks aloud may need more; try another one.",
            )
        return reply

    def _ask(self, call: _Call) -> Reply:
        """Sends the request until there is a reply; raises when patience or time is at an end."""
        tries = refused_forms = 0
        while True:
            if self._gate.is_closed:
                raise LanguageModelUnavailable(
                    "The language model has failed several times in a row.",
                    why=Why.UNREACHABLE,
                    hint="It is asked again within half a minute.",
                )
            self._wait(call, self._gate.pause_seconds, Why.BUSY)
            dialect = self._dialect
            try:
                reply = self._send(call, dialect)
            except APIError as error:
                other = _other_dialect(dialect, error)
                if other is not None and refused_forms < _MOST_REFUSED_FORMS:
                    refused_forms += 1
                    self._dialect = other
                    continue
                failure = failure_of(error, self._settings.llm_base_url or DEFAULT_BASE_URL)
                tries += 1
                self._after_failure(call, failure, tries)
                continue
            self._gate.answered()
            return reply

    def _after_failure(self, call: _Call, failure: Failure, tries: int) -> None:
        """Waits before the next try, or raises."""
        _log.warning("language_model_failed", why=failure.why, status=failure.status, tries=tries)
        pause = failure.retry_after_seconds or min(8.0, 2.0 ** (tries - 1))
        if failure.why is Why.BUSY:
            self._gate.too_many(pause)
        if tries >= _TRIES.get(failure.why, 1):
            if failure.why in _TRIES:
                self._gate.gave_up()
            raise failure.as_error()
        if pause > call.seconds_left(_PATIENCE_SECONDS):
            raise failure.as_error()
        if failure.why is not Why.BUSY:  # there the gate's own pause is waited for
            self._wait(call, pause, failure.why)

    def _wait(self, call: _Call, seconds: float, why: Why) -> None:
        if seconds <= 0:
            return
        if seconds > call.seconds_left(_PATIENCE_SECONDS):
            raise LanguageModelUnavailable(
                f"The language model's server asks to be left alone for {seconds:.0f} seconds.",
                why=why,
                retry_after_seconds=seconds,
            )
        self._sleep(seconds)

    def _send(self, call: _Call, dialect: Dialect) -> Reply:
        """One request, inside the budget and the number of requests at once."""
        with self._gate.slot(call.seconds_left(self._settings.llm_timeout_seconds)) as has_place:
            seconds = call.seconds_left(self._settings.llm_timeout_seconds)
            if not has_place or seconds <= 0:
                raise LanguageModelUnavailable(
                    "There was no time left to ask the language model.", why=Why.TIMEOUT
                )
            reservation = self._ledger.reserve(self._planned(call))
            try:
                reply = self._exchange(call, dialect, seconds)
            except BaseException as error:
                self._after_error(reservation, call, error)
                raise
            usage = reply.usage or Usage(
                call.tokens_in, estimate_tokens(reply.text), is_estimated=True
            )
            self._ledger.settle(reservation, usage, self._cost(usage))
            return reply

    def _exchange(self, call: _Call, dialect: Dialect, seconds: float) -> Reply:
        messages: Any = [
            {"role": each["role"], "content": sendable(each["content"])} for each in call.messages
        ]
        raw = self._client.chat.completions.with_raw_response.create(
            model=self._settings.llm_model,
            messages=messages,
            timeout=seconds,
            **dialect.parameters(call.result, call.max_output_tokens),
        )
        return read_reply(raw.http_response.content)

    def _after_error(self, reservation: str, call: _Call, error: BaseException) -> None:
        """A server that refused a request has not worked on it; one that fell silent may have."""
        if isinstance(error, APIStatusError) or _never_arrived(error):
            self._ledger.release(reservation)
            return
        usage = Usage(call.tokens_in, 0, is_estimated=True)
        self._ledger.settle(reservation, usage, self._cost(usage))

    def _planned(self, call: _Call) -> PlannedCall:
        most = Usage(call.tokens_in, call.max_output_tokens)
        return PlannedCall(
            account_id=call.account_id,
            purpose=call.prompt.purpose,
            model=self._settings.llm_model,
            conversation_id=call.prompt.conversation_id,
            tokens_in=most.tokens_in,
            tokens_out=most.tokens_out,
            cost_micros=self._cost(most),
        )

    def _cost(self, usage: Usage) -> int | None:
        return None if self._price is None else self._price.cost_micros(usage)


def _client(settings: Settings) -> OpenAI:
    # The client insists on a key; servers of one's own mostly ignore it.
    key = settings.llm_api_key.get_secret_value() or "none"
    if settings.llm_api_version:
        if not settings.llm_base_url:
            raise InvalidInput(
                "BACKREAD_LLM_API_VERSION is for Azure, which has an address of its own.",
                hint="Set BACKREAD_LLM_BASE_URL to https://<resource>.openai.azure.com.",
            )
        return AzureOpenAI(
            azure_endpoint=settings.llm_base_url,
            api_version=settings.llm_api_version,
            api_key=key,
            max_retries=0,
        )
    return OpenAI(base_url=settings.llm_base_url or DEFAULT_BASE_URL, api_key=key, max_retries=0)


def _is_readable(reply: Reply, call: _Call) -> bool:
    try:
        read_answer(reply.text, call.result)
    except UnusableAnswer:
        return False
    return True


def _other_dialect(dialect: Dialect, error: APIError) -> Dialect | None:
    return dialect.after_refusal(str(error)) if rejected(error) else None


def _never_arrived(error: BaseException) -> bool:
    """The connection was refused, so nothing was worked on."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError) or type(cause).__name__ == "ConnectError":
            return True
        cause = cause.__cause__ or cause.__context__
    return False
