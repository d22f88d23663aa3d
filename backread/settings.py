"""Every setting of the server, and the only module that reads its environment.

Each field is read from `BACKREAD_<NAME>`. Units are part of the name. The list in
`docs/settings.md` is checked against this file by `tests/architecture`.
"""

import ipaddress
from functools import cached_property
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from backread.language_settings import LanguageModelSettings

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


class Settings(LanguageModelSettings):
    """Frozen after start: a process sees one configuration for its whole life."""

    model_config = SettingsConfigDict(
        env_prefix="BACKREAD_",
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
    )

    home: Path = Field(
        default=Path("~/.backread"),
        description="Data folder: database, search index, uploads, sockets and logs.",
    )
    host: str = Field(default="127.0.0.1", description="Address the web server binds to.")
    port: int = Field(default=8787, ge=0, le=65535, description="Port the web server binds to.")
    public_url: str = Field(
        default="",
        description="Origin people and AI clients reach the server at, without a path. "
        "Empty means http://127.0.0.1:<port>. Must be https unless it is a loopback address.",
    )
    allowed_hosts: str = Field(
        default="",
        description="Further Host header values to accept, separated by commas. "
        "The public URL's host and loopback are always accepted.",
    )

    trusted_proxies: str = Field(
        default="127.0.0.0/8,::1",
        description="Addresses or networks of reverse proxies, separated by commas. From these "
        "alone is X-Forwarded-For believed, which says whose sign-in tries to count.",
    )

    database_url: str = Field(
        default="",
        description="SQLAlchemy URL. Empty means SQLite in the data folder; "
        "for PostgreSQL use postgresql+psycopg://user:password@host/name.",
    )
    broker_url: str = Field(
        default="",
        description="Redis or Valkey URL for background jobs. Empty means the bundled broker "
        "that `backread up` starts on a private socket.",
    )
    qdrant_url: str = Field(
        default="",
        description="URL of a Qdrant server. Empty means the embedded index in the data folder.",
    )
    qdrant_api_key: SecretStr = Field(default=SecretStr(""), description="API key for Qdrant.")

    embedding_model: str = Field(
        default="minilm",
        description="`minilm` (packaged, English), `multilingual-e5` (packaged, a hundred "
        "languages: `backread[multilingual]`), `hashing` (no model: compares spelling, for "
        "machines where onnxruntime does not run), the name of any fastembed model, or "
        "`openai:<model>` for an OpenAI-compatible endpoint. A new value is acted on at the next "
        "start; the former model answers until the new one's vectors are made.",
    )
    embedding_threads: int = Field(
        default=1, ge=1, le=64, description="CPU threads one embedding process may use."
    )
    embedding_provider: Literal["auto", "cpu", "cuda", "coreml"] = Field(
        default="auto",
        description="What computes embeddings. `auto`: a graphics card if the installed "
        "onnxruntime can use one, else the CPU. `cuda` and `coreml` insist on it.",
    )
    embedding_keep_days: int = Field(
        default=7,
        ge=0,
        description="After a change of the embedding model the former one's vectors are kept for "
        "this many days, so that one can go back at once.",
    )
    embedding_base_url: str = Field(
        default="", description="Base URL of the OpenAI-compatible embeddings endpoint."
    )
    embedding_api_key: SecretStr = Field(
        default=SecretStr(""), description="API key for the embeddings endpoint."
    )

    worker_concurrency: int = Field(
        default=2,
        ge=1,
        le=64,
        description="Jobs that run at the same time. `backread up` runs one in the background and "
        "the rest of what people wait for, of these at least two, so that two accounts get on "
        "beside each other.",
    )
    job_lease_seconds: int = Field(
        default=60,
        ge=5,
        description="A running job that has not reported for this long is taken to be dead "
        "and is started again.",
    )
    job_stalled_minutes: int = Field(
        default=60,
        ge=1,
        description="A job that answers and gets no further for this long is stopped and tried "
        "again later.",
    )
    job_silent_minutes: int = Field(
        default=30,
        ge=1,
        description="A job that does not even answer for this long has its process ended, and is "
        "tried again later.",
    )
    job_keep_days: int = Field(
        default=30, ge=1, description="Days that jobs which have ended stay on the Activity page."
    )

    upload_max_bytes: int = Field(
        default=20 * 1024**3,
        ge=1,
        description="Most bytes of one upload, and of all uploads of an account "
        "that wait for their import.",
    )
    archive_max_entries: int = Field(
        default=200_000,
        ge=1,
        description="Most entries of an archive, with those of archives in it.",
    )
    archive_max_inflated_bytes: int = Field(
        default=20 * 1024**3,
        ge=1,
        description="Most bytes read out of an archive, through all its layers.",
    )
    archive_max_ratio: int = Field(
        default=200,
        ge=1,
        description="Highest compression ratio of an archive entry, or of a file packed with gzip "
        "or zstd, over 10 MB inflated.",
    )
    conversation_max_bytes: int = Field(
        default=64 * 1024**2, ge=1, description="Largest single conversation in bytes of JSON."
    )
    file_max_bytes: int = Field(
        default=50 * 1024**2, ge=1, description="Most bytes of one uploaded document."
    )
    files_max_bytes: int = Field(
        default=5 * 1024**3,
        ge=1,
        description="Most bytes of all uploaded documents of an account together.",
    )
    file_versions_kept: int = Field(
        default=0,
        ge=0,
        le=100,
        description="Earlier originals that are kept of a document when it is replaced. They can "
        "be downloaded and are not searched.",
    )
    file_max_pages: int = Field(
        default=2_000, ge=1, description="Most pages, slides or chapters of one document."
    )
    file_max_characters: int = Field(
        default=5_000_000, ge=1, description="Most characters of text read out of one document."
    )
    file_max_inflated_bytes: int = Field(
        default=512 * 1024**2,
        ge=1,
        description="Most bytes that a document which is a zip inside (docx, xlsx, pptx, epub) may "
        "unpack to.",
    )
    file_read_seconds: int = Field(
        default=60,
        ge=1,
        description="Longest time that reading a document may take. Each page that is a picture "
        "of text has as much again.",
    )
    file_read_memory_bytes: int = Field(
        default=1024**3,
        ge=128 * 1024**2,
        description="Most memory of the process that reads a document, as address space.",
    )
    file_max_ocr_pages: int = Field(
        default=200, ge=0, description="Most pages of one document that tesseract reads."
    )
    file_ocr_languages: str = Field(
        default="eng",
        pattern=r"[A-Za-z_]+(\+[A-Za-z_]+)*",
        description="Languages that tesseract reads pictures of text in, by its names, joined by "
        "`+`: `eng+deu`. Their data must be installed.",
    )
    watch_dir: str = Field(
        default="",
        description="Folder that `backread up` imports from by itself: what lies in it, and then "
        "whatever comes to it or changes. Empty means none.",
    )
    watch_account: str = Field(
        default="",
        description="E-mail address of the account that the watched folder belongs to. Empty "
        "means the only account.",
    )

    forget_tools: bool = Field(
        default=True,
        description="Whether AI clients that may write get tools that delete memories and "
        "buckets. The web app can always.",
    )
    forget_undo_days: int = Field(
        default=30,
        ge=0,
        description="For this many days a deleted memory or bucket can be had back.",
    )
    chatgpt_tools: bool = Field(
        default=True,
        description="Whether clients that may read chats also get `search` and `fetch`, in the "
        "form that ChatGPT's research asks for.",
    )

    note_max_bytes: int = Field(
        default=1024**2,
        ge=1_000,
        le=3 * 1024**2,
        description="Most bytes of one note, front matter included.",
    )
    notes_requests_per_minute: int = Field(
        default=60,
        ge=1,
        description="Requests a minute that one token, or one signed-in person, may make at the "
        "REST interface of notes.",
    )
    notes_semantic_search: bool = Field(
        default=False,
        description="Offers AI clients a seventh tool at /mcp that finds notes by their meaning.",
    )
    graph_extraction_enabled: bool = Field(
        default=False,
        description="Reads a graph of files, concepts, decisions, people and tools out of coding "
        "agents' sessions.",
    )
    team_id: str = Field(
        default="",
        max_length=200,
        description="Name of the team whose members share memories on this server. Empty: no "
        "sharing.",
    )

    access_token_minutes: int = Field(
        default=60, ge=10, description="Life of an OAuth access token in minutes."
    )
    refresh_token_idle_days: int = Field(
        default=30, ge=1, description="An unused OAuth refresh token ends after this many days."
    )
    refresh_token_absolute_days: int = Field(
        default=90, ge=1, description="A grant must be renewed by sign-in after this many days."
    )
    refresh_grace_seconds: int = Field(
        default=300,
        ge=0,
        le=1800,
        description="For this long after rotation the old refresh token still works, "
        "so that parallel processes of one client do not sign each other out.",
    )
    client_documents: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whether AI clients may name a document on the web about themselves instead "
        "of registering. `auto`: once this server was able to fetch one, at the address below. "
        "`on` and `off` ask nobody.",
    )
    client_documents_probe_url: str = Field(
        default="https://claude.ai/oauth/claude-code-client-metadata",
        description="The document that `auto` tries to fetch at start.",
    )
    session_days: int = Field(
        default=30, ge=1, description="A browser sign-in ends after this many days unused."
    )
    setup_token: SecretStr = Field(
        default=SecretStr(""),
        description="Token that the first-run page asks for. Empty means one is made at start "
        "and printed with the address.",
    )
    log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR.")
    metrics_token: SecretStr = Field(
        default=SecretStr(""),
        description="Bearer token that Prometheus sends for `/metrics`. Empty means that there "
        "is no such page.",
    )
    otlp_endpoint: str = Field(
        default="",
        validation_alias=AliasChoices("BACKREAD_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Address of an OpenTelemetry collector (OTLP over HTTP) that traces are sent "
        "to; also read from OTEL_EXPORTER_OTLP_ENDPOINT. Empty means no traces.",
    )

    @field_validator("home")
    @classmethod
    def _absolute_home(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("public_url")
    @classmethod
    def _bare_origin(cls, value: str) -> str:
        value = value.strip().rstrip("/")
        if not value:
            return value
        if not value.isascii() or not value.isprintable() or " " in value:
            raise ValueError("must be plain ASCII; names in other scripts are written xn--…")
        parts = urlsplit(value)
        _ = parts.port  # its ValueError says what is wrong
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must look like https://backread.example.org")
        if parts.path or parts.query or parts.fragment or parts.username:
            raise ValueError("must be an origin only: scheme, host and port, without a path")
        if parts.scheme == "http" and parts.hostname not in LOOPBACK_HOSTS:
            raise ValueError("must be https, because sign-in tokens travel over it")
        return parts.scheme + value[len(parts.scheme) :]  # in lower case

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: str) -> str:
        for part in filter(None, (part.strip() for part in value.split(","))):
            ipaddress.ip_network(part, strict=False)  # its ValueError says what is wrong
        return value

    @model_validator(mode="after")
    def _known_log_level(self) -> Self:
        if self.log_level.upper() not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
            raise ValueError("log_level must be DEBUG, INFO, WARNING or ERROR")
        return self

    @cached_property
    def origin(self) -> str:
        """The public origin, without a trailing slash. Issuer and resources derive from it."""
        return self.public_url or f"http://127.0.0.1:{self.port}"

    @cached_property
    def sqlalchemy_url(self) -> str:
        return self.database_url or f"sqlite:///{self.home / 'backread.db'}"

    @property
    def uploads_dir(self) -> Path:
        return self.home / "uploads"

    @property
    def index_dir(self) -> Path:
        return self.home / "index"

    @property
    def models_dir(self) -> Path:
        return self.home / "models"

    @property
    def run_dir(self) -> Path:
        """Sockets, locks and pid files; nothing in it outlives a restart."""
        return self.home / "run"
