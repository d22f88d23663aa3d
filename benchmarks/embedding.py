"""How much of onnxruntime's own throughput the embedder keeps.

    python -m benchmarks.embedding [--texts 400] [--seed 1]

Both embed the same texts with the same model file on one thread, in turns, so that whatever else
the machine does slows both. The baseline has no product code in it: texts sorted by length, the
tokenizer, batches padded to their longest text, `InferenceSession.run`, mean pooling. CPU time
counts, not the clock.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from backread.llm.packaged_minilm import PackagedMiniLM, prepare_minilm
from benchmarks.texts import passage_texts

_BATCH = 32
_ROUNDS = 3


def raw_onnxruntime(folder: Path) -> Callable[[list[str]], None]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / "model_int8.onnx"), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(384)
    tokenizer.enable_padding()

    def embed(texts: list[str]) -> None:
        ordered = sorted(texts, key=len)
        for start in range(0, len(ordered), _BATCH):
            batch = tokenizer.encode_batch(ordered[start : start + _BATCH])
            ids = np.array([each.ids for each in batch], dtype=np.int64)
            mask = np.array([each.attention_mask for each in batch], dtype=np.int64)
            inputs = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            names = {each.name for each in session.get_inputs()}
            (states,) = session.run(None, {k: v for k, v in inputs.items() if k in names})[:1]
            weights = mask[:, :, None].astype(np.float32)
            pooled = (np.asarray(states) * weights).sum(1) / weights.sum(1)
            pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)

    return embed


def cpu_seconds(embed: Callable[[list[str]], object], texts: list[str]) -> float:
    start = time.process_time()
    embed(texts)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    texts = list(passage_texts(random.Random(asked.seed), asked.texts))
    with tempfile.TemporaryDirectory() as folder:
        embedder = PackagedMiniLM(Path(folder), threads=1)
        contestants: dict[str, Callable[[list[str]], object]] = {
            "raw onnxruntime": raw_onnxruntime(prepare_minilm(Path(folder))),
            "backread": embedder.embed_passages,
        }
        for embed in contestants.values():
            embed(texts[:_BATCH])
        best = dict.fromkeys(contestants, float("inf"))
        for _ in range(_ROUNDS):
            for name, embed in contestants.items():
                best[name] = min(best[name], cpu_seconds(embed, texts))
        queries = [text[:40] for text in texts[:100]]
        one_query = cpu_seconds(lambda some: [embedder.embed_queries([q]) for q in some], queries)
    characters = sum(map(len, texts))
    print(f"{len(texts)} passages, {characters / len(texts):.0f} characters each, 1 thread")
    for name, seconds in best.items():
        print(f"{name:16} {len(texts) / seconds:7.1f} passages per CPU second")
    print(f"ratio            {best['raw onnxruntime'] / best['backread']:7.2f}")
    print(f"one query        {one_query / len(queries) * 1000:7.1f} ms CPU")


if __name__ == "__main__":
    main()
