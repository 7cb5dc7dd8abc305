"""``save_checkpoint``.

Source of the rules: MindSpore 2.10.0, measured (``tests/interop/test_checkpoints.py``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from harness.atomic import create_held, scratch_beside, sweep_abandoned
from harness.errors import CheckpointWriteError, SettingError, SettingTypeError, UnsupportedError
from harness.framework import kinds, log
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.outside import outside_graphs
from harness.framework.tensor import Parameter, Tensor
from harness.framework.train.checkpoint import ckpt, safetensors
from harness.framework.train.checkpoint.content import Content, Entry

_LOG = log.get("train")
OWNER = "save_checkpoint"
FORMATS = ("ckpt", "safetensors")


class CheckpointParentError(CheckpointWriteError, FileNotFoundError):
    """The directory for a checkpoint does not exist."""


class CheckpointDirectoryError(CheckpointWriteError, IsADirectoryError):
    """The path of a checkpoint is a directory."""


@outside_graphs
@partial(kinds.checked, "ms.save_checkpoint")
def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Writes parameters to a file, whole or not at all; an existing file is replaced. Its mode is 0400.

    Args:
        save_obj: a cell, a list of parameters or of ``{"name": ..., "data": ...}``, or parameters by name.
        ckpt_file_name: the file; ``.ckpt`` (``.safetensors``) is appended unless it ends with the format's name.
        integrated_save: kept; there is one process.
        async_save: kept; the file is complete when this returns.
        append_dict: more to save: numbers, bools, texts and tensors by name.
        enc_key: must be None.
        choice_func: which names to save.
        crc_check: append a checksum (``ckpt`` only).
        format: ``ckpt`` or ``safetensors``.

    Raises:
        SettingTypeError, SettingError: arguments that are not accepted.
        CheckpointDirectoryError, CheckpointParentError, CheckpointWriteError: it cannot be written there.
    """
    checks.boolean(integrated_save, "integrated_save", OWNER)
    check_async(async_save, OWNER)
    refuse_encryption(enc_key, enc_mode, OWNER)
    checks.boolean(crc_check, "crc_check", OWNER)
    checks.among(format, FORMATS, "format", OWNER)
    path = _path(ckpt_file_name, format)
    content = {name: Entry.of(value) for name, value in _named(save_obj, choice_func)}
    content.update((name, Entry.of(value)) for name, value in _appended(append_dict))
    redundancy = kwargs.get("remove_redundancy")
    more = {} if redundancy is None else {"remove_redundancy": str(redundancy)}
    pieces = (
        ckpt.encode(content, crc=crc_check)
        if format == "ckpt"
        else safetensors.encode(content, {"format": "ms", **more})
    )
    write_file(path, pieces)


def check_async(value: Any, owner: str) -> None:
    """``async_save`` may be a bool, ``process`` or ``thread``."""
    if isinstance(value, str):
        checks.among(value, ("process", "thread"), "async_save", owner)
    else:
        checks.boolean(value, "async_save", owner)


def refuse_encryption(key: Any, mode: Any, owner: str) -> None:
    """``UnsupportedError`` for a key; ``SettingTypeError`` for anything that is not a key."""
    if key is not None and not isinstance(key, bytes):
        raise SettingTypeError(f"{owner}: the key must be None or bytes, got {type(key).__name__}")
    if not isinstance(mode, str):
        raise SettingTypeError(f"{owner}: the mode of encryption must be a str, got {type(mode).__name__}")
    if key is not None:
        raise UnsupportedError(f"{owner}: encrypted checkpoints are not supported")


def _path(name: Any, format: str) -> Path:
    if not isinstance(name, str):
        raise SettingTypeError(f"{OWNER}: ckpt_file_name must be a str, got {type(name).__name__} {name!r}")
    path = Path(os.path.realpath(name if name.endswith(format) else f"{name}.{format}"))
    if path.is_dir():
        raise CheckpointDirectoryError(f"{OWNER}: {path} is a directory; a file name is needed")
    return path


def write_file(path: Path, pieces: Iterable[bytes], mode: int = 0o400) -> None:
    """Writes ``pieces`` to ``path``, whole or not at all.

    Raises:
        CheckpointParentError: the directory does not exist.
        CheckpointWriteError: anything else the system refuses.
    """
    try:
        sweep_abandoned(path)
        with scratch_beside(path) as scratch:
            with open(create_held(scratch), "wb") as file:
                for piece in pieces:
                    file.write(piece)
            os.chmod(scratch, mode)
            os.replace(scratch, path)
    except FileNotFoundError as error:
        _LOG.critical("the checkpoint %s cannot be written: %s", path, error)
        raise CheckpointParentError(f"{OWNER}: {path} cannot be written: {path.parent} does not exist") from error
    except OSError as error:
        _LOG.critical("the checkpoint %s cannot be written: %s", path, error)
        raise CheckpointWriteError(f"{OWNER}: {path} cannot be written: {error}") from error


def _named(save_obj: Any, choice: Callable[[str], bool] | None) -> Iterator[tuple[str, Any]]:
    if choice is not None and not callable(choice):
        raise SettingTypeError(f"{OWNER}: choice_func must be callable, got {choice!r}")
    for name, value in _members(save_obj):
        if choice is None or choice(name):
            yield name, _value(name, value)


def _members(save_obj: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(save_obj, Cell):
        for parameter in save_obj.get_parameters():
            yield parameter.name, parameter
    elif isinstance(save_obj, dict):
        yield from save_obj.items()
    elif isinstance(save_obj, list):
        for each in save_obj:
            if isinstance(each, Parameter):
                yield each.name, each
            elif isinstance(each, dict) and {"name", "data"} <= each.keys():
                yield each["name"], each["data"]
            else:
                raise SettingTypeError(f"{OWNER}: a list must hold Parameters or {{'name': ..., 'data': ...}}, "
                                       f"got {each!r} in it")  # fmt: skip
    else:
        raise SettingTypeError(f"{OWNER}: save_obj must be a Cell, list or dict, got {type(save_obj).__name__}")


def _value(name: Any, value: Any) -> Any:
    if not isinstance(name, str):
        raise SettingTypeError(f"{OWNER}: a name must be a str, got {type(name).__name__} {name!r}")
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (np.ndarray, str)):
        return value
    raise SettingTypeError(f"{OWNER}: {name!r} must be a Parameter, Tensor or array, got {type(value).__name__}")


def _appended(given: dict[str, Any] | None) -> Iterator[tuple[str, Any]]:
    if given is None:
        return
    if not isinstance(given, dict):
        raise SettingTypeError(f"{OWNER}: append_dict must be a dict, got {type(given).__name__}")
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, (int, float, bool, str, Tensor)):
            raise SettingTypeError(f"{OWNER}: append_dict must hold numbers, bools, texts or tensors by name, "
                                   f"got {name!r}: {type(value).__name__}")  # fmt: skip
        if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
            raise SettingError(f"{OWNER}: append_dict: {name!r} must fit 64 bits, got {value}")
        yield name, value.asnumpy() if isinstance(value, Tensor) else value


def contents_of(save_obj: Any) -> Content:
    """The content that ``save_checkpoint`` would write for ``save_obj``."""
    return {name: Entry.of(value) for name, value in _named(save_obj, None)}
