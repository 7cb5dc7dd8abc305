"""``load_checkpoint`` and ``load_param_into_net``.

Source of the rules: MindSpore 2.10.0, measured (``tests/interop/test_checkpoints.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.errors import CheckpointError, SettingError, SettingTypeError, StateError
from harness.framework import kinds, log
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.outside import outside_graphs
from harness.framework.tensor import Parameter, Tensor
from harness.framework.train.checkpoint import ckpt, safetensors
from harness.framework.train.checkpoint.content import Content
from harness.framework.train.checkpoint.save import FORMATS, refuse_encryption
from harness.reading import read_bytes

_LOG = log.get("train")
OWNER = "load_checkpoint"
#: A checkpoint may have any size: its tensors are held in memory anyway.
_MAX_BYTES = 2**62


@outside_graphs
@partial(kinds.checked, "ms.load_checkpoint")
def load_checkpoint(
    ckpt_file_name: str,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: str | Sequence[str] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | Sequence[str] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """Reads a file of ``save_checkpoint``, ours or MindSpore's.

    Args:
        ckpt_file_name: the file; must end with the format's name.
        net: also load the parameters into this cell.
        strict_load: see ``load_param_into_net``.
        filter_prefix: leave out names that start so.
        dec_key: must be None.
        specify_prefix: take only names that start so.
        choice_func: a function of a name; take only names for which it is true.
        crc_check: compare the checksum, if the file has one.
        remove_redundancy: kept; there is one process.
        format: ``ckpt`` or ``safetensors``.

    Returns:
        Parameters by name; texts as str.

    Raises:
        CheckpointError: the file is missing or damaged, or holds nothing that was asked for.
        SettingTypeError, SettingError: arguments that are not accepted.
    """
    only, but = _prefixes(specify_prefix, "specify_prefix"), _prefixes(filter_prefix, "filter_prefix")
    refuse_encryption(dec_key, dec_mode, OWNER)
    checks.boolean(crc_check, "crc_check", OWNER)
    checks.boolean(remove_redundancy, "remove_redundancy", OWNER)
    if choice_func is not None and not callable(choice_func):
        raise SettingError(f"{OWNER}: choice_func must be callable, got {choice_func!r}")
    content = read_file(ckpt_file_name, format, crc=crc_check)
    found: dict[str, Any] = {}
    for name, entry in content.items():
        if (only and not name.startswith(only)) or (but and name.startswith(but)):
            continue
        if choice_func is None or choice_func(name):
            found[name] = (
                str(entry.array) if entry.dtype is None else Parameter(Tensor(entry.array, entry.dtype), name=name)
            )
    if not found:
        raise CheckpointError(
            f"{OWNER}: {ckpt_file_name} has no parameter that was asked for; it has {list(content)[:20]}"
        )
    if net is not None:
        load_param_into_net(net, found, strict_load, remove_redundancy)
    return found


def _prefixes(given: Any, name: str) -> tuple[str, ...]:
    if given is None:
        return ()
    prefixes = (given,) if isinstance(given, str) else given
    if not isinstance(prefixes, (list, tuple)) or not all(isinstance(each, str) for each in prefixes):
        raise SettingTypeError(f"{OWNER}: {name} must be a str, or a list or tuple of them, got {given!r}")
    if not prefixes or "" in prefixes:
        raise SettingError(f"{OWNER}: {name} must not be empty, got {given!r}")
    return tuple(prefixes)


def read_file(name: Any, format: str, *, crc: bool = False) -> Content:
    """Reads a checkpoint file's content."""
    if not isinstance(name, str):
        raise SettingTypeError(f"{OWNER}: ckpt_file_name must be a str, got {type(name).__name__} {name!r}")
    checks.among(format, FORMATS, "format", OWNER)
    path = Path(name)
    if not path.exists():
        raise CheckpointError(f"{OWNER}: there is no file {name}")
    if not name.endswith(format):
        raise CheckpointError(f"{OWNER}: {name} must end with {format!r}, or format be the one it ends with")
    data = read_bytes(path, _MAX_BYTES, lambda text: CheckpointError(f"{OWNER}: cannot be read: {text}"))
    return ckpt.decode(data, name, crc=crc) if format == "ckpt" else safetensors.decode(data, name)[0]


@outside_graphs
@partial(kinds.checked, "ms.load_param_into_net")
def load_param_into_net(
    net: Any, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Puts loaded parameters into a cell.

    Names must agree. If some do not and ``strict_load`` is False, names of the file are also tried without the part in
    front of the cell's name for a parameter.

    A parameter of the same dtype shares its memory with the cell's from then on, as with ``set_data`` (measured): what
    trains one network whose parameters another one loaded trains both.

    Args:
        strict_load: also refuse another floating dtype; otherwise values are cast.

    Returns:
        (names of the cell that were not loaded, names of the file that were not used).

    Raises:
        SettingTypeError: no cell, no dict, or a dict of something else.
        StateError: shapes or dtypes that do not fit.
    """
    owner = "load_param_into_net"
    if not isinstance(net, Cell):
        raise SettingTypeError(f"{owner}: net must be a Cell, got {type(net).__name__}")
    if not isinstance(parameter_dict, dict):
        raise SettingTypeError(f"{owner}: parameter_dict must be a dict, got {type(parameter_dict).__name__}")
    checks.boolean(strict_load, "strict_load", owner)
    checks.boolean(remove_redundancy, "remove_redundancy", owner)
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, (Parameter, str)):
            raise SettingTypeError(f"{owner}: parameter_dict must hold Parameters by name, "
                                   f"got {name!r}: {type(value).__name__}")  # fmt: skip
    loaded = {name: value for name, value in parameter_dict.items() if isinstance(value, Parameter)}
    own = {parameter.name: parameter for _, parameter in net.parameters_and_names()}
    for name, parameter in own.items():
        if name in loaded:
            _update(parameter, loaded[name], strict_load)
    missing = [name for name in own if name not in parameter_dict]
    if missing and not strict_load:
        _with_prefix(own, loaded, missing)
    if missing:
        _LOG.warning("%s: %d parameters of the net are not loaded: %s", owner, len(missing), missing)
    return missing, [name for name in parameter_dict if name not in own or name not in loaded]


def _with_prefix(own: dict[str, Parameter], loaded: dict[str, Parameter], missing: list[str]) -> None:
    """Loads missing parameters from names of the file that only have a prefix; removes them from ``missing``."""
    tried: set[str] = set()
    while missing:
        prefixes = (each[: -len(name)] for name in missing for each in loaded if each.endswith(name))
        prefix = next((each for each in prefixes if each not in tried), None)
        if prefix is None:
            return
        tried.add(prefix)
        _LOG.warning("load_param_into_net: names of the file are taken without %r in front", prefix)
        for name in list(missing):
            if prefix + name in loaded:
                _update(own[name], loaded[prefix + name], strict=False)
                missing.remove(name)


def _update(parameter: Parameter, new: Parameter, strict: bool) -> None:
    where = f"load_param_into_net: {parameter.name}"
    shape = new.shape
    # Trailing axes of one element that the net's parameter lacks are dropped.
    if shape != parameter.shape and (len(shape) <= parameter.ndim or set(shape[parameter.ndim :]) != {1}
                                     or shape[: parameter.ndim] != parameter.shape):  # fmt: skip
        raise StateError(f"{where} has shape {parameter.shape} in the net, but {shape} in the checkpoint")
    floats = parameter.dtype.is_floating and new.dtype.is_floating
    if new.dtype != parameter.dtype and (strict or not floats):
        raise StateError(f"{where} is {parameter.dtype} in the net, but {new.dtype} in the checkpoint")
    same = new.dtype == parameter.dtype and shape == parameter.shape
    parameter.set_data(new if same else Tensor(new.asnumpy().reshape(parameter.shape), parameter.dtype))
