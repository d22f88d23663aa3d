"""What servers that call themselves compatible differ in, found out by asking.

The newest form is tried first. A server that refuses a part of a request says which in its
message; that part is then asked for in an older form, and the process remembers it.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from backread.llm.language.structured import strict_schema

# json_schema: OpenAI, Azure, Ollama, vLLM, llama-server. json_object with a schema beside it:
# llama-cpp-python. Then bare JSON mode, then plain text.
_FORMS = ("json_schema", "json_object_with_schema", "json_object", "text")
_ABOUT_FORM = ("response_format", "json_schema", "json_object", "schema", "grammar", "structured")
_ABOUT_TOKENS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Immutable: threads share the newest one and may replace it at the same time."""

    form: int = 0
    tokens_parameter: str = "max_tokens"
    has_temperature: bool = True

    @property
    def form_name(self) -> str:
        return _FORMS[self.form]

    def parameters(self, result: type[BaseModel], max_output_tokens: int) -> dict[str, Any]:
        """The part of a request that depends on the server."""
        parameters: dict[str, Any] = {self.tokens_parameter: max_output_tokens}
        if self.has_temperature:
            parameters["temperature"] = 0
        if self.form_name == "json_schema":
            schema = {"name": "answer", "strict": True, "schema": strict_schema(result)}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.form_name == "json_object_with_schema":
            parameters["response_format"] = {
                "type": "json_object",
                "schema": strict_schema(result),
            }
        elif self.form_name == "json_object":
            parameters["response_format"] = {"type": "json_object"}
        return parameters

    def after_refusal(self, message: str) -> "Dialect | None":
        """What to try next, or None when the message is about something else."""
        message = message.lower()
        if any(name in message for name in _ABOUT_TOKENS) and "context" not in message:
            if self.tokens_parameter == "max_tokens":
                return Dialect(self.form, "max_completion_tokens", self.has_temperature)
            return None
        if "temperature" in message and self.has_temperature:
            return Dialect(self.form, self.tokens_parameter, has_temperature=False)
        if any(name in message for name in _ABOUT_FORM) and self.form + 1 < len(_FORMS):
            return Dialect(self.form + 1, self.tokens_parameter, self.has_temperature)
        return None
