"""``SummaryRecord``: summary files a script writes by itself.

Source of the rules: MindSpore 2.10.0, measured (``tests/interop/test_summaries.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from harness import log
from harness.errors import SettingError, SettingTypeError, StateError, UnsupportedError
from harness.framework.context import GRAPH_MODE, get_context
from harness.framework.nn import Cell
from harness.framework.ops.summaries import taken
from harness.framework.runtime import session
from harness.framework.tensor import Tensor
from harness.framework.train.callback.model_checkpoint import make_directory
from harness.framework.train.summary.messages import EVENTS, LINEAGE
from harness.framework.train.summary.pictures import png, sheet
from harness.framework.train.summary.records import RecordFile
from harness.framework.train.summary.values import histogram
from harness.graph import pb
from harness.graph.pb_schema import DATA_TYPES

__all__ = ["SummaryRecord"]

_LOG = log.get("train")
VERSION = "MindSpore.Event:1"
OWNER = "SummaryRecord"
#: plugins of tensors, and of lineage with the field of the event each fills
_OF_TENSORS = ("scalar", "image", "tensor", "histogram")
_OF_LINEAGE = {
    "train_lineage": "train_lineage", "eval_lineage": "evaluation_lineage", "dataset_graph": "dataset_graph",
    "custom_lineage_data": "user_defined_info",
}  # fmt: skip
_TYPES = {np.dtype(t): DATA_TYPES[f"DT_{n}"] for t, n in (
    ("?", "BOOL"), ("i1", "INT8"), ("i2", "INT16"), ("i4", "INT32"), ("i8", "INT64"), ("u1", "UINT8"), ("u2", "UINT16"),
    ("u4", "UINT32"), ("u8", "UINT64"), ("f2", "FLOAT16"), ("f4", "FLOAT32"), ("f8", "FLOAT64"),
)}  # fmt: skip
_open: list[SummaryRecord] = []


class SummaryRecord:
    """Writes numbers, pictures, tensors, histograms, the graph and lineage of a training; a context.

    Args:
        log_dir: made if it is not there.
        file_prefix, file_suffix: of the file's name.
        num_process: kept.
        network: whose graph is written with the first record; None for none.
        max_file_size, export_options: must be None.
        raise_exception: kept: an error of writing is raised in any case.

    Raises:
        StateError: another one is open.
        SettingTypeError, UnsupportedError: a wrong setting.
    """

    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Cell | None = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict[str, Any] | None = None,
    ) -> None:
        if _open:
            raise StateError(f"{OWNER}: another one is open; there is one at a time in a process")
        if not isinstance(file_prefix, str) or not isinstance(file_suffix, str):
            raise SettingTypeError(f"{OWNER}: file_prefix and file_suffix must be texts")
        if not isinstance(raise_exception, bool):
            raise SettingTypeError(f"{OWNER}: raise_exception must be a bool, got {raise_exception!r}")
        if max_file_size is not None or export_options is not None:
            raise UnsupportedError(f"{OWNER}: max_file_size and export_options are not supported")
        folder, device = Path(make_directory(log_dir, f"{OWNER}: log_dir")), get_context("device_id")
        self.network = network
        self._events = RecordFile(folder, file_suffix, device, file_prefix)
        self._lineage = RecordFile(folder, "_lineage", device, file_prefix)
        self._mode = "train"
        self._pool: dict[str, list[tuple[str, Any]]] = {}
        self._has_graph = self._closed = False
        taken()
        _open.append(self)

    def __enter__(self) -> SummaryRecord:
        if self._closed:
            raise SettingError(f"{OWNER}: it has been closed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def log_dir(self) -> str:
        """The path of the file of events."""
        return str(self._events.reserve())

    def set_mode(self, mode: str) -> None:
        """``train``, or ``eval``: what summary operators were given is not recorded."""
        if mode not in ("train", "eval"):
            raise SettingError(f"{OWNER}.set_mode: mode must be 'train' or 'eval', got {mode!r}")
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Adds a value to the next record.

        Args:
            plugin: ``scalar``, ``image``, ``tensor``, ``histogram`` (of tensors), ``graph`` (bytes of a model),
                ``train_lineage``, ``eval_lineage``, ``dataset_graph``, ``custom_lineage_data`` or ``LANDSCAPE``
                (messages).
            name: the tag.
            value: see ``plugin``.

        Raises:
            SettingError: no such plugin, or no name.
            SettingTypeError: the value is of another type.
        """
        if plugin in _OF_TENSORS:
            if not name or not isinstance(name, str):
                raise SettingError(f"{OWNER}.add_value: name must be a text that is not empty, got {name!r}")
            if not isinstance(value, Tensor):
                raise SettingTypeError(f"{OWNER}.add_value: value must be a Tensor, got {type(value).__name__}")
            if any(tag == name for tag, _ in self._pool.get(plugin, ())):
                _LOG.warning("%s.add_value: %s/%s is there already; readers show the newest", OWNER, name, plugin)
            value = _checked(plugin, name, value.asnumpy())
        elif plugin in _OF_LINEAGE or plugin == "LANDSCAPE":
            if not hasattr(value, "SerializeToString"):
                raise SettingTypeError(f"{OWNER}.add_value: {plugin} must be a message, got {type(value).__name__}")
            value = value.SerializeToString()
        elif plugin != "graph":
            known = ", ".join([*_OF_TENSORS, *_OF_LINEAGE, "graph", "LANDSCAPE"])
            raise SettingError(f"{OWNER}.add_value: no plugin {plugin!r}; there are {known}")
        self._pool.setdefault(plugin, []).append((name, value))

    def record(
        self, step: int, train_network: Cell | None = None, plugin_filter: Callable[[str], bool] | None = None
    ) -> bool:
        """Writes what was added, and what the network's summary operators were given, as ``step``.

        Args:
            step: label.
            train_network: whose graph is written where ``network`` of the constructor has none yet.
            plugin_filter: which plugins are written; None for all.

        Returns:
            False if it has been closed.
        """
        if type(step) is not int or not isinstance(train_network, (Cell, type(None))):
            raise SettingTypeError(f"{OWNER}.record: step must be an int and train_network a Cell or None")
        if self._closed:
            _LOG.error("%s: it has been closed", OWNER)
            return False
        given = taken()
        if self._write_graph(train_network) and not given:
            return True
        if self._mode == "train":
            for kind, tag, tensor in {(kind, tag): (kind, tag, tensor) for kind, tag, tensor in given}.values():
                self.add_value(kind.lower(), tag, tensor)
        pool, self._pool = self._pool, {}
        self._write({plugin: rows for plugin, rows in pool.items() if not plugin_filter or plugin_filter(plugin)}, step)
        return True

    def flush(self) -> None:
        """What was recorded is in the file already."""
        if self._closed:
            _LOG.error("%s: it has been closed and cannot flush", OWNER)

    def close(self) -> None:
        """Ends the files; they are read-only from then on."""
        if not self._closed:
            self._start()
            for file in (self._events, self._lineage):
                file.close()
            self._closed = True
            _open.clear()

    # -- what is written -----------------------------------------------------------------------------------------------
    def _write_graph(self, train_network: Cell | None) -> bool:
        """Writes the graph of the network once there is one; True if it did."""
        if self.network is None or self._has_graph or get_context("mode") != GRAPH_MODE:
            return False
        graphs = (session.current().graph_of(cell) for cell in (self.network, train_network) if cell is not None)
        graph = next((each for each in graphs if each is not None), None)
        if graph is None:
            _LOG.warning("%s: there is no graph yet", OWNER)
            return False
        self._add(EVENTS["Event"](graph_def=pb.read(pb.write(graph)).graph.SerializeToString()))
        self._has_graph = True
        return True

    def _write(self, pool: dict[str, list[tuple[str, Any]]], step: int) -> None:
        event = EVENTS["Event"](step=step)
        for plugin, rows in pool.items():
            for tag, value in rows:
                if plugin == "graph":
                    self._add(EVENTS["Event"](graph_def=pb.read(value).graph.SerializeToString()))
                elif plugin in _OF_LINEAGE:
                    lineage = LINEAGE["LineageEvent"](wall_time=time.time())
                    getattr(lineage, _OF_LINEAGE[plugin]).MergeFromString(value)
                    self._lineage.add(lineage.SerializeToString())
                else:
                    _fill(event.summary, plugin, tag, value)
        if event.HasField("summary"):
            self._add(event)

    def _start(self) -> None:
        if self._events.is_empty:
            self._events.add(EVENTS["Event"](wall_time=time.time(), version=VERSION).SerializeToString())

    def _add(self, event: Any) -> None:
        self._start()
        event.wall_time = time.time()
        self._events.add(event.SerializeToString())


def _checked(plugin: str, name: str, array: Any) -> Any:
    """A copy of ``array``. As in MindSpore, a scalar must have one element and an image must be a batch of pictures."""
    if plugin == "scalar" and array.size != 1:
        raise SettingError(f"{OWNER}.add_value: scalar {name!r} must have one element, got shape {list(array.shape)}")
    if plugin == "image" and (array.ndim != 4 or array.shape[1] not in (1, 3) or not array.size):
        raise SettingError(
            f"{OWNER}.add_value: image {name!r} must be (n, 1 or 3, height, width), got shape {list(array.shape)}"
        )
    if plugin != "image" and array.dtype not in _TYPES:
        raise SettingTypeError(f"{OWNER}.add_value: {name!r} has dtype {array.dtype}; summaries cannot hold it")
    return array.copy()


def _fill(summary: Any, plugin: str, tag: str, value: Any) -> None:
    row = summary.value.add(tag=tag)
    if plugin == "scalar":
        row.scalar_value = float(value.item())
    elif plugin == "tensor":
        row.tensor.dims.extend(value.shape)
        row.tensor.data_type = _TYPES[value.dtype]
        row.tensor.float_data.extend(value.reshape(-1).tolist())
    elif plugin == "image":
        pixels = sheet(value)
        row.image.height, row.image.width, row.image.colorspace = pixels.shape
        row.image.encoded_image = png(pixels)
    elif plugin == "histogram":
        row.histogram.CopyFrom(histogram(value))
    else:
        row.loss_landscape = value
