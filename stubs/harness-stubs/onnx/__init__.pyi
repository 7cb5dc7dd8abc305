# Written by `python -m tests.stubs`.
from harness.onnx import onnx_export as onnx_export
