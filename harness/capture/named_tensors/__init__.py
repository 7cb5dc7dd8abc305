"""Files of named tensors that others write: ``.npz``, ``.safetensors``, and ONNX's test data."""

from harness.capture.named_tensors import onnx, safetensors
from harness.capture.named_tensors.npz import items as npz_items

__all__ = ["npz_items", "onnx", "safetensors"]
