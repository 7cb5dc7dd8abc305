"""PyTorch as an engine: a kernel for each of MindSpore's operators, and the conversion of values.

Importing this package imports PyTorch; ``harness.framework.engines.available`` says beforehand whether it can be.
"""

from harness.framework.engines.torch.engine import TorchEngine

__all__ = ["TorchEngine"]
