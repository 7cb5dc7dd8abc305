"""Where a tensor lies: there is one place here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, UnsupportedError


def check_device(device: Any) -> None:
    """Raises ``SettingError`` unless ``device`` is None, ``"CPU"`` or ``"meta"``, as on a CPU (measured); tensors
    without data (``meta``) are an ``UnsupportedError``."""
    if device is None or (isinstance(device, str) and device == "CPU"):
        return
    if isinstance(device, str) and device == "meta":
        raise UnsupportedError("Tensor(device='meta') is not supported: every tensor has its data here")
    raise SettingError(f"Tensor: device must be None, 'CPU' or 'meta', got {device!r}")


def asked_by_to(owner: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> DType | None:
    """The dtype that the arguments of ``to`` ask for, of a tensor or a cell; None for none. Forms, by position or name:
    ``(dtype, non_blocking, copy)``, ``(device, dtype, non_blocking, copy)``, ``(other, non_blocking, copy)``.

    Raises:
        SettingTypeError: arguments of no form.
        SettingError: a device other than the CPU, in letters of either case.
    """
    known = ("device", "dtype", "non_blocking", "copy", "other", "tensor")
    rest = list(args)
    if any(name not in known for name in kwargs) or len(rest) > 4:
        raise SettingTypeError(f"{owner}.to takes {', '.join(known)}, got {', '.join(kwargs) or len(rest)}")
    like = kwargs.get("other", kwargs.get("tensor"))
    if rest and isinstance(getattr(rest[0], "dtype", None), DType):
        like = rest.pop(0)
    if like is not None:
        found: Any = like.dtype
    else:
        takes_device = bool(rest) and (rest[0] is None or isinstance(rest[0], str))
        device = kwargs.get("device", rest.pop(0) if takes_device else None)
        if device is not None and str(device).upper() != "CPU":
            raise SettingError(f"{owner}.to: the device must be 'CPU', got {device!r}")
        found = kwargs.get("dtype", rest[0] if rest else None)
    if found is not None and not isinstance(found, DType):
        raise SettingTypeError(f"{owner}.to: a dtype is needed, got {found!r}")
    return found
