"""Opens the embedding model that the settings name."""

from pkgutil import resolve_name

from backread.llm.embedding import Embedder
from backread.settings import Settings

OPENAI_PREFIX = "openai:"


def open_embedder(settings: Settings) -> Embedder:
    """The model of `settings.embedding_model`. Cheap: models load when they are first used.

    Each adapter's module is imported by name only when it is chosen: the libraries behind them
    take seconds to import, and a machine without onnxruntime must be able to do without.
    Raises InvalidInput when there is no such model.
    """
    name = settings.embedding_model
    if name == "hashing":
        embedder = resolve_name("backread.llm.hashing:HashingEmbedder")()
    elif name == "minilm":
        packaged = resolve_name("backread.llm.packaged_minilm:PackagedMiniLM")
        embedder = packaged(settings.models_dir, threads=settings.embedding_threads)
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
        )
    opened: Embedder = embedder
    return opened
