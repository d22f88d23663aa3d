"""Settings of the language model. Read, like all others, by `backread.settings`."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings


class LanguageModelSettings(BaseSettings):
    """A part of `Settings`, in a file of its own for its length."""

    llm_model: str = Field(
        default="",
        description="Name of a chat model behind an OpenAI-compatible address. Empty means none: "
        "everything then works without one.",
    )
    llm_base_url: str = Field(
        default="",
        description="Base URL of the language model's server, usually ending in /v1. Empty means "
        "OpenAI's.",
    )
    llm_api_key: SecretStr = Field(
        default=SecretStr(""), description="API key for the language model's server."
    )
    llm_api_version: str = Field(
        default="",
        description="API version of an Azure OpenAI resource, whose address is then the base URL. "
        "Empty for every other server.",
    )
    llm_context_tokens: int = Field(
        default=16_000,
        ge=2_000,
        description="How many tokens the model takes, prompt and answer together.",
    )
    llm_concurrency: int = Field(
        default=2, ge=1, le=64, description="Requests to the model at once, for each process."
    )
    llm_timeout_seconds: float = Field(
        default=120.0, ge=1, description="How long one request to the model may take."
    )
    llm_price_in: float | None = Field(
        default=None,
        ge=0,
        description="What a million tokens sent to the model cost. Empty means the list price, "
        "where it is known.",
    )
    llm_price_out: float | None = Field(
        default=None, ge=0, description="What a million tokens of the model's answers cost."
    )
    llm_currency: str = Field(
        default="USD",
        pattern=r"^[A-Z]{3}$",
        description="Currency of the prices and budgets. List prices are in USD.",
    )
    llm_budget_day: float = Field(
        default=1.0, ge=0, description="Most money an account spends a day. 0 means no limit."
    )
    llm_budget_month: float = Field(
        default=10.0, ge=0, description="Most money an account spends a month. 0 means no limit."
    )
    llm_budget_day_tokens: int = Field(
        default=2_000_000,
        ge=0,
        description="Most tokens an account uses a day, in and out. 0 means no limit.",
    )
    llm_budget_month_tokens: int = Field(
        default=20_000_000,
        ge=0,
        description="Most tokens an account uses a month, in and out. 0 means no limit.",
    )
