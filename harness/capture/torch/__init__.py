"""Captures training steps of PyTorch modules, operator by operator (extra ``torch``)."""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "harness.capture.torch needs PyTorch, which is not installed; get it with: pip install 'pytest-msdump[torch]'"
    ) from error

from harness.capture.torch.watch import TorchCapture

__all__ = ["TorchCapture"]
