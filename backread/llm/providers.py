"""What onnxruntime computes with: a graphics card where there is one, else the CPU."""

from collections.abc import Sequence
from typing import Literal

from backread.errors import Unavailable

Wanted = Literal["auto", "cpu", "cuda", "coreml"]

CPU = "CPUExecutionProvider"
_PROVIDERS = {"cuda": "CUDAExecutionProvider", "coreml": "CoreMLExecutionProvider"}
_NEEDED = {
    "cuda": "Install onnxruntime-gpu in place of onnxruntime, with NVIDIA's driver and libraries",
    "coreml": "CoreML comes with onnxruntime on macOS alone",
}


def choose_providers(wanted: Wanted, available: Sequence[str]) -> list[str]:
    """onnxruntime's names for what to try, in order; the CPU takes what the first cannot do.

    `available` is what the installed onnxruntime was built with. `auto` takes a graphics card if
    it was built for one. Raises Unavailable when the one that is insisted on is not there.
    """
    if wanted == "cpu":
        return [CPU]
    if wanted != "auto":
        if _PROVIDERS[wanted] not in available:
            raise Unavailable(
                f"Embeddings cannot be computed with {wanted} here.",
                hint=f"{_NEEDED[wanted]}, or set BACKREAD_EMBEDDING_PROVIDER to auto.",
            )
        return [_PROVIDERS[wanted], CPU]
    return [*(each for each in _PROVIDERS.values() if each in available), CPU]


def check_provider(wanted: Wanted, used: Sequence[str]) -> None:
    """`used` is what a loaded model computes with. Raises Unavailable when that is not what is
    insisted on: onnxruntime goes on with the CPU when a card's libraries are missing."""
    if wanted in _PROVIDERS and _PROVIDERS[wanted] not in used:
        raise Unavailable(
            f"Embeddings cannot be computed with {wanted} here: onnxruntime could not start it.",
            hint=f"{_NEEDED[wanted]}, or set BACKREAD_EMBEDDING_PROVIDER to auto.",
        )
