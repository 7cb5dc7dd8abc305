"""``CheckpointConfig``: when to save checkpoints, which to keep, and their content."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.tensor import Tensor
from harness.framework.train.checkpoint.save import check_async, refuse_encryption
from harness.framework.train.checks import whole
from harness.framework.train.metrics.base import typed

OWNER = "CheckpointConfig"
_COUNTED = ("epoch_num", "step_num")


class CheckpointConfig:
    """Settings of ``ModelCheckpoint``.

    Args:
        save_checkpoint_steps: save every so many steps; 0 or None not to save by steps.
        save_checkpoint_seconds: save when so many seconds passed, if not by steps.
        keep_checkpoint_max: keep so many files.
        keep_checkpoint_per_n_minutes: keep one of so many minutes, if not by number.
        integrated_save, async_save: kept; see ``save_checkpoint``.
        saved_network: the cell to save; None for the one that is trained, with its optimizer.
        append_info: list of ``epoch_num``, ``step_num`` and one dict: what to save beside.
        enc_key: must be None.
        exception_save: save if an exception ends the training.
        crc_check: append a checksum.
        format: ``ckpt`` or ``safetensors``; checked when something is saved.

    Raises:
        SettingTypeError, SettingError: arguments that are not accepted.
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool | str = False,
        saved_network: Any = None,
        append_info: list[Any] | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ) -> None:
        self._settle(
            _count(save_checkpoint_steps, "save_checkpoint_steps"),
            _count(save_checkpoint_seconds, "save_checkpoint_seconds"),
            _count(keep_checkpoint_max, "keep_checkpoint_max"),
            _count(keep_checkpoint_per_n_minutes, "keep_checkpoint_per_n_minutes"),
        )
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise SettingTypeError(f"{OWNER}: saved_network must be None or a Cell, got {type(saved_network).__name__}")
        self.saved_network = saved_network
        self.append_dict = _appended(append_info)
        self.integrated_save = checks.boolean(integrated_save, "integrated_save", OWNER)
        check_async(async_save, OWNER)
        self.async_save = async_save
        refuse_encryption(enc_key, enc_mode, OWNER)
        self.enc_key, self.enc_mode = enc_key, enc_mode
        self.exception_save = checks.boolean(exception_save, "exception_save", OWNER)
        self.crc_check = checks.boolean(crc_check, "crc_check", OWNER)
        self.remove_redundancy = checks.boolean(remove_redundancy, "remove_redundancy", OWNER)
        self.format = typed(format, (str,), "format", OWNER)
        if format == "safetensors" and (crc_check or exception_save or kwargs.get("incremental")):
            raise SettingError(f"{OWNER}: crc_check and exception_save are for format 'ckpt', got 'safetensors'")

    def _settle(self, steps: int | None, seconds: int | None, most: int | None, minutes: int | None) -> None:
        """Which rule holds: steps before seconds, a number before minutes."""
        if not (steps or seconds or most or minutes):
            raise SettingError(
                f"{OWNER}: one of save_checkpoint_steps, save_checkpoint_seconds, keep_checkpoint_max and "
                "keep_checkpoint_per_n_minutes must be above 0"
            )
        self.save_checkpoint_steps = steps
        self.save_checkpoint_seconds = None if steps else seconds
        self.keep_checkpoint_max = most if most or minutes else 1
        self.keep_checkpoint_per_n_minutes = None if most else minutes

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """The rules for saving and keeping, by name."""
        names = ("save_checkpoint_steps", "save_checkpoint_seconds", "keep_checkpoint_max",
                 "keep_checkpoint_per_n_minutes", "saved_network")  # fmt: skip
        return {name: getattr(self, name) for name in names}


def _count(value: Any, name: str) -> int | None:
    return None if value is None else whole(value, name, OWNER, 0)


def _appended(given: Any) -> dict[str, Any] | None:
    if given is None or given == []:
        return None
    if not isinstance(given, list):
        raise SettingTypeError(f"{OWNER}: append_info must be a list, got {type(given).__name__}")
    found: dict[str, Any] = {name: 0 for name in _COUNTED if name in given}
    dicts = 0
    for each in given:
        if isinstance(each, str):
            checks.among(each, _COUNTED, "append_info", OWNER)
        elif isinstance(each, dict):
            dicts += 1
            found.update(_checked(each))
        else:
            raise SettingTypeError(f"{OWNER}: append_info must hold texts and a dict, got {type(each).__name__} in it")
    if dicts > 1:
        raise SettingTypeError(f"{OWNER}: append_info may hold one dict, got {dicts}")
    return found


def _checked(given: dict[Any, Any]) -> dict[str, Any]:
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, (int, float, bool, str, Tensor)):
            raise SettingTypeError(f"{OWNER}: append_info: numbers, bools, texts or tensors by name, "
                                   f"got {name!r}: {type(value).__name__}")  # fmt: skip
    return given
