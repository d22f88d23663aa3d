"""Loads models with fastembed. Imported only when one is used: it takes seconds."""

from pathlib import Path
from typing import Any

import onnxruntime
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from backread.errors import InvalidInput, Unavailable
from backread.llm.providers import Wanted, check_provider, choose_providers


class _WithoutSpinning:
    """onnxruntime's threads wait by spinning, which on a busy machine takes the processor from
    the very work they wait for. fastembed sets up its sessions here."""

    @classmethod
    def add_extra_session_options(
        cls, session_options: onnxruntime.SessionOptions, extra_options: dict[str, Any]
    ) -> None:
        session_options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session_options.add_session_config_entry("session.inter_op.allow_spinning", "0")


class _Models(TextEmbedding):
    """fastembed's own choice of class for a model, with sessions that do not spin."""

    EMBEDDINGS_REGISTRY = [  # noqa: RUF012 - fastembed reads it as a plain class attribute
        type(f"Quiet{kind.__name__}", (_WithoutSpinning, kind), {})
        for kind in TextEmbedding.EMBEDDINGS_REGISTRY
    ]


def register_local_model(name: str, *, dimensions: int, model_file: str) -> None:
    """Makes a mean-pooled sentence model known under `name`; it is then loaded from a folder."""
    if not _is_known(name):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=name),
            dim=dimensions,
            model_file=model_file,
        )


def embedding_size(name: str) -> int:
    """Length of the model's vectors. Raises InvalidInput when fastembed does not know it."""
    if not _is_known(name):
        raise InvalidInput(
            f"There is no embedding model {name!r}.",
            hint="BACKREAD_EMBEDDING_MODEL takes `minilm`, `multilingual-e5`, `hashing`, "
            "`openai:<model>`, or a name from fastembed's list, "
            "https://qdrant.github.io/fastembed/examples/Supported_Models/",
        )
    return int(TextEmbedding.get_embedding_size(name))


def load_model(
    name: str, *, threads: int, cache_dir: Path, provider: Wanted, folder: Path | None
) -> TextEmbedding:
    """The model, from `folder` if it is here, else from fastembed's source by way of `cache_dir`.

    Raises Unavailable when it cannot be had, or not with the provider that is insisted on.
    """
    embedding_size(name)
    providers = choose_providers(provider, onnxruntime.get_available_providers())
    options: dict[str, Any] = {} if folder is None else {"specific_model_path": str(folder)}
    cache_dir.mkdir(parents=True, exist_ok=True)
    try:
        model = _Models(
            name, cache_dir=str(cache_dir), threads=threads, providers=providers, **options
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise Unavailable(
            f"The embedding model {name!r} could not be loaded: {error}.",
            hint="It is downloaded on first use: check the network, or choose `minilm`, which "
            "comes with Backread.",
        ) from error
    session = getattr(model.model, "model", None)
    if session is not None:
        check_provider(provider, session.get_providers())
    return model


def _is_known(name: str) -> bool:
    models = TextEmbedding.list_supported_models()
    return any(name.lower() == model["model"].lower() for model in models)
