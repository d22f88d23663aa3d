import subprocess
import sys
from pathlib import Path

import pytest

from backread.errors import InvalidInput
from backread.llm.open import open_embedder
from backread.settings import Settings


def test_a_name_that_no_model_has_is_explained(tmp_path: Path) -> None:
    embedder = open_embedder(Settings(home=tmp_path, embedding_model="no/such-model"))

    with pytest.raises(InvalidInput, match="no/such-model") as refused:
        embedder.embed_queries(["tea"])

    assert "minilm" in refused.value.hint


def test_opening_does_not_import_the_libraries_behind_the_models() -> None:
    program = """
import sys
from backread.llm.open import open_embedder
from backread.settings import Settings
for name in ("minilm", "hashing", "BAAI/bge-small-en-v1.5"):
    open_embedder(Settings(embedding_model=name)).signature
heavy = {"fastembed", "onnxruntime", "onnx", "openai", "qdrant_client"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
