"""Captures training steps of PyTorch modules, operator by operator (extra ``torch``)."""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    from harness.suggest import install

    raise ImportError(
        f"harness.capture.torch needs PyTorch, which is not installed; get it with: {install('pytest-msdump[torch]')}"
    ) from error

from harness.capture.torch.watch import TorchCapture

__all__ = ["TorchCapture"]
