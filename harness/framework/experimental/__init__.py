"""``mindspore.experimental``: optimizers whose groups can be changed, and schedulers of their learning rates."""

from harness.framework.names import fallback as _fallback

__all__: list[str] = []

__getattr__ = _fallback(__name__)
