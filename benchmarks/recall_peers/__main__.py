"""Drives Backread and its peers over the same chats and questions, and scores what each finds.

    python -m benchmarks.recall_peers BENCH/locomo --conversations conv-26 \\
        --sentence-model FOLDER --onnx-model FOLDER --memsearch PYTHON --txtai PYTHON \\
        --mempalace PYTHON --basic-memory PYTHON --mcp-memory-service PYTHON

BENCH/locomo is a labelled set as `benchmarks.recall_quality` reads it. Every conversation is a
haystack of its own, every turn a document, and a peer is given `[date] Speaker: text` for it
(`--text spoken`: without the date). Backread gets the chat itself, as from an export.

A peer is named by the Python of an environment of its own; one that is not named is left out, which
is said. To make them:

    python3.12 -m venv ms && ms/bin/pip install 'memsearch==0.4.23' milvus-lite openai
    python3.12 -m venv mp && mp/bin/pip install mempalace==3.11.0
    python3.12 -m venv bm && bm/bin/pip install basic-memory==0.24.1
    python3.11 -m venv mms && mms/bin/pip install mcp-memory-service==12.4.0 onnxruntime tokenizers
    python3.11 -m venv tx && tx/bin/pip install txtai==9.14.0 torch

basic-memory and mcp-memory-service need a Python whose sqlite3 can load extensions (or
pysqlite3-binary put in its place by a .pth file). All peers embed with all-MiniLM-L6-v2 in full
precision, which three of them name as their default or example and which needs no network:
`--sentence-model` is its folder with `model.safetensors` (txtai loads it with torch),
`--onnx-model` the same with `model.onnx` and `vocab.txt` (mempalace and mcp-memory-service find it
in their caches; memsearch and basic-memory ask a small server here, whose time counts as theirs).
Backread takes the int8 form that it ships with.

Processor time is user and system time of all processes of a system, read before and after all of
its questions (models are loaded by then); OpenMP gets one thread everywhere. How each peer is
called is in `driving.py`. `--runs FOLDER` writes run files for the set's own scorer.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.recall_peers.driving import SYSTEMS
from benchmarks.recall_peers.processes import Driven, drive, embedding_server
from benchmarks.recall_quality.data import BenchQuestion, BenchSet, Document, read_set
from benchmarks.recall_quality.scoring import figures

_HERE = Path(__file__).parent
_CACHES = ("chroma", "mcp_memory")
_MODEL = "onnx_models/all-MiniLM-L6-v2/onnx"


def write_job(path: Path, data: BenchSet, arguments: argparse.Namespace, url: str) -> None:
    conversations: dict[str, list[tuple[str, str]]] = {}
    questions: dict[str, list[tuple[str, str]]] = {}
    for document in data.documents:
        text = _text(document, dated=arguments.text == "dated")
        conversations.setdefault(document.conv, []).append((document.msg, text))
    for question in data.questions:
        questions.setdefault(question.conv, []).append((question.qid, question.text))
    home = path.with_suffix("")
    home.mkdir()
    job = {
        "home": str(home),
        "set": str(arguments.set.resolve()),
        "sentence_model": str(arguments.sentence_model),
        "embeddings_url": url,
        "conversations": conversations,
        "questions": questions,
    }
    path.write_text(json.dumps(job), encoding="utf-8")


def _text(document: Document, *, dated: bool) -> str:
    spoken = f"{document.role}: {document.text}"
    if not dated or document.at is None:
        return spoken
    return f"[{document.at.day} {document.at:%B %Y}] {spoken}"


def environment_of(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BACKREAD_")}
    return kept | {
        "HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "ANONYMIZED_TELEMETRY": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MCP_MEMORY_USE_ONNX": "true",
        "MCP_MEMORY_ONNX_ALLOW_DOWNLOAD": "0",
        "BACKREAD_LOG_LEVEL": "ERROR",
    }


def run(system: str, data: BenchSet, arguments: argparse.Namespace, server: int, url: str) -> None:
    """Prints a line for each way in which the system can be asked."""
    with tempfile.TemporaryDirectory(prefix="recall-peers-") as folder:
        job = Path(folder) / "job.json"
        write_job(job, data, arguments, url)
        home = Path(folder) / "home"
        home.mkdir()
        if arguments.onnx_model:
            for cache in _CACHES:
                shutil.copytree(arguments.onnx_model, home / ".cache" / cache / _MODEL)
        if system == "backread":
            module = "benchmarks.recall_peers.backread_driving"
            command = [sys.executable, "-m", module, str(job)]
        else:
            python = str(getattr(arguments, system.replace("-", "_")))
            command = [python, str(_HERE / "driving.py"), system, str(job)]
        try:
            driven = drive(command, environment_of(home), Path(folder) / "log", server)
        except SystemExit as failure:
            print(f"{system}: {failure}", flush=True)
            return
    for way in driven.ranked:
        print(_line(system, way, driven, data), flush=True)
        if arguments.runs:
            _write_run(arguments.runs / f"{system}.{way}.jsonl", driven.ranked[way])


def _line(system: str, way: str, driven: Driven, data: BenchSet) -> str:
    scored = [question for question in data.questions if question.gold_msgs]
    at_5, at_10, mrr = means(scored, driven.ranked[way])
    milliseconds = driven.asking[way] / len(data.questions) * 1000
    per_second = len(data.documents) / driven.indexing if driven.indexing else 0.0
    return (
        f"{system + ', ' + way:32s} {len(scored):4d}  {at_5:.3f} {at_10:.3f} {mrr:.3f}  "
        f"{milliseconds:8.1f}  {driven.indexing:8.1f}  {per_second:8.1f}"
    )


def means(questions: Sequence[BenchQuestion], ranked: dict[str, list[str]]) -> list[float]:
    """R@5, R@10 and MRR of turns."""
    rows = [
        figures(question.gold_msgs, list(dict.fromkeys(ranked[question.qid])))[:3]
        for question in questions
    ]
    return [statistics.mean(column) for column in zip(*rows, strict=True)]


def _write_run(path: Path, ranked: dict[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"qid": qid, "ranked": ids}) for qid, ids in ranked.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(given: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("set", type=Path)
    parser.add_argument("--conversations", nargs="+", help="only these; all when not given")
    parser.add_argument("--text", choices=["dated", "spoken"], default="dated")
    parser.add_argument("--sentence-model", type=Path)
    parser.add_argument("--onnx-model", type=Path)
    parser.add_argument("--runs", type=Path)
    for peer in SYSTEMS:
        parser.add_argument(f"--{peer}", type=Path, metavar="PYTHON")
    arguments = parser.parse_args(given)
    named = [peer for peer in SYSTEMS if getattr(arguments, peer.replace("-", "_"))]
    if named and not (arguments.sentence_model and arguments.onnx_model):
        parser.error("Peers need --sentence-model and --onnx-model.")
    data = read_set(arguments.set, arguments.conversations)
    print(f"{len(data.documents)} turns, {len(data.questions)} questions, text {arguments.text}")
    for peer in SYSTEMS:
        if peer not in named:
            print(f"{peer} is left out: no --{peer}")
    print(f"{'':32s}    n  R@5   R@10  MRR    CPU ms a question  indexing s  turns a CPU s")
    run("backread", data, arguments, 0, "")
    if named:
        module = "benchmarks.recall_peers.embedding_server"
        command = [sys.executable, "-m", module, str(arguments.onnx_model)]
        with embedding_server(command) as (server, url):
            for peer in named:
                run(peer, data, arguments, server, url)


if __name__ == "__main__":
    main(sys.argv[1:])
