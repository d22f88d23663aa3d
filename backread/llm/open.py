"""Opens the embedding model that the settings name."""

from pkgutil import resolve_name

from backread.llm.embedding import Embedder
from backread.llm.remembering import RememberingEmbedder
from backread.settings import Settings

OPENAI_PREFIX = "openai:"


def open_embedder(settings: Settings, name: str = "") -> Embedder:
    """The model of this name, or of `settings.embedding_model`. Cheap: models load when they are
    first used.

    Each adapter's module is imported by name only when it is chosen: the libraries behind them
    take seconds to import, and a machine without onnxruntime must be able to do without.
    Raises InvalidInput when there is no such model.
    """
    name = name or settings.embedding_model
    provider = settings.embedding_provider
    if name == "hashing":
        embedder = resolve_name("backread.llm.hashing:HashingEmbedder")()
    elif name == "minilm":
        packaged = resolve_name("backread.llm.packaged_minilm:PackagedMiniLM")
        embedder = packaged(
            settings.models_dir,
            threads=settings.embedding_threads,
            # Its integer arithmetic is the CPU's: a graphics card would only be in the way.
            provider="cpu"
            if settings.embedding_provider == "auto"
            else settings.embedding_provider,
        )
    elif name == "multilingual-e5":
        embedder = resolve_name("backread.llm.packaged_e5:PackagedE5")(
            threads=settings.embedding_threads
        )
    elif name.startswith(OPENAI_PREFIX):
        connect = resolve_name("backread.llm.openai_compatible:OpenAICompatibleEmbedder")
        embedder = connect(
            name.removeprefix(OPENAI_PREFIX),
            base_url=settings.embedding_base_url,
            api_key=settings.embedding_api_key.get_secret_value(),
        )
    else:
        open_named = resolve_name("backread.llm.fastembed_model:FastembedEmbedder")
        embedder = open_named(
            name,
            signature=f"fastembed:{name}",
            threads=settings.embedding_threads,
            cache_dir=settings.models_dir / "fastembed",
            provider=provider,
        )
    return RememberingEmbedder(embedder)


def check_name(settings: Settings, name: str) -> None:
    """Raises InvalidInput when there is no embedding model of this name. Loads none, and asks no
    endpoint."""
    embedder = open_embedder(settings, name)
    if not name.startswith(OPENAI_PREFIX):
        _ = embedder.dimensions
