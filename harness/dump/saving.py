"""Saves tensors one by one in the configured form: file, statistics, or both."""

from __future__ import annotations

from harness.devices import Device
from harness.devices.formats import DEFAULT, Layout
from harness.dtypes import DType
from harness.dump.config import DumpConfig
from harness.dump.names import Clock
from harness.dump.series import Series
from harness.dump.statistic import StatisticRows
from harness.dump.writer import Directory
from harness.recording import Value


class Saver:
    """Writes tensors into the directory of their graph and step.

    Args:
        config: configuration, of which ``saved_data``, the sample and the statistics matter.
        device: device that spells dtypes.
        clock: clock that gives each tensor a timestamp.
    """

    def __init__(self, config: DumpConfig, device: Device, clock: Clock) -> None:
        self._keeps_tensors = config.keeps_tensors
        self._rows = StatisticRows(config) if config.keeps_statistics else None
        sampled = config.sample_mode == 1 and device.capabilities.has("sample")
        self._limit = config.sample_num if sampled else None
        self._device = device
        self._clock = clock
        self._words: dict[DType, str] = {}

    def save(
        self,
        directory: Directory,
        series: Series,
        io: str,
        value: Value,
        layout: Layout = DEFAULT,
    ) -> bool:
        """Saves one tensor; its row of statistics is kept until ``finish``.

        Args:
            directory: directory to write to.
            series: series of the tensor.
            io: ``input`` or ``output``.
            value: the tensor in host order, with its logical shape. Empty ones leave nothing (measured).
            layout: its layout on the device, and so in the file.

        Returns:
            Whether something was saved.

        Raises:
            DumpWriteError: the disk failed.
        """
        array, dtype, slot, stable = value.array, value.dtype, value.index, value.stable
        if array.size == 0:
            return False
        if not layout.is_default:
            array, stable = layout.to_device(array), True
        if self._limit is not None and array.size > self._limit:
            array = array.reshape(-1)[: self._limit]
        stamp = self._clock.stamp()
        saved = False
        if self._keeps_tensors:
            name, mapped = series.file(io, slot, self._word(dtype), stamp, layout.format)
            write = directory.write_mapped if mapped else directory.write_array
            saved = write(name, array, dtype, stable)
        if self._rows is not None:
            saved = self._rows.add(
                series.op_type, series.row_name, series.stream, stamp, io, slot, array, dtype
            ) or saved  # fmt: skip
        return saved

    def _word(self, dtype: DType) -> str:
        word = self._words.get(dtype)
        if word is None:
            word = self._words[dtype] = self._device.file_dtype(dtype)
        return word

    def finish(self, directory: Directory) -> None:
        """Appends the rows of the tensors saved since the last call; ``DumpWriteError`` if the disk fails."""
        if self._rows is not None:
            self._rows.write(directory)
