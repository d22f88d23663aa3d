"""Rewrites an ONNX model to compute in 8-bit integers. Imported only when one is rewritten."""

from pathlib import Path

import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata


def rewrite_to_int8(source: Path, target: Path, scratch: Path) -> None:
    """Writes `target`: `source` with int8 matrix products and scales found as it runs (dynamic
    quantisation). `source` may itself hold its weights as int8."""
    folded = scratch / "folded.onnx"
    # Loading folds int8 weights back to fp32; what is written down then is a plain fp32 model.
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folded)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    model = onnx.load(folded)
    add_pre_process_metadata(model)  # the folding was it; else the next step advises to do it
    quantize_dynamic(model, target, weight_type=QuantType.QInt8)
