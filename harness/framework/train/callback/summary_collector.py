"""``SummaryCollector``: files from which MindInsight shows a training.

Source of the rules: MindSpore 2.10.0, measured (``tests/interop/test_summaries.py``).
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from harness import log
from harness.errors import SettingError, StateError, UnsupportedError
from harness.framework.context import GRAPH_MODE, get_context
from harness.framework.nn import checks
from harness.framework.runtime import session
from harness.framework.tensor import Tensor
from harness.framework.train.callback.base import Callback, RunContext
from harness.framework.train.callback.model_checkpoint import make_directory
from harness.framework.train.checkpoint.save import save_checkpoint, write_file
from harness.framework.train.checks import whole
from harness.framework.train.summary import lineage, settings
from harness.framework.train.summary.messages import EVENTS, LINEAGE
from harness.framework.train.summary.records import RecordFile
from harness.framework.train.summary.values import histogram
from harness.graph import pb

_LOG = log.get("train")
VERSION = "MindSpore.Event:1"
#: parameters shown if no expression chooses them
SHOWN = 5
_open: list[SummaryCollector] = []


class SummaryCollector(Callback):
    """Collects loss, histograms of parameters, the graph, lineage, and parameters for landscapes.

    Args:
        summary_dir: created if it is missing.
        collect_freq: every so many steps, and always the first.
        collect_specified_data: what to collect, by name; see ``harness.framework.train.summary.settings``.
        keep_default_action: what is not named is collected as by default.
        custom_lineage_data: ints, floats and texts to keep beside.
        num_process, collect_tensor_freq: kept.
        max_file_size, export_options: must be None.
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        owner = settings.OWNER
        self._folder = Path(make_directory(summary_dir, f"{owner}: summary_dir"))
        self._freq = whole(collect_freq, "collect_freq", owner, 1)
        if collect_tensor_freq is not None:
            whole(collect_tensor_freq, "collect_tensor_freq", owner, 1)
        if max_file_size is not None or export_options is not None:
            raise UnsupportedError(f"{owner}: max_file_size and export_options are not supported")
        checks.boolean(keep_default_action, "keep_default_action", owner)
        self._wanted = settings.wanted(collect_specified_data, keep_default_action)
        self._user = custom_lineage_data or {}
        for name, value in self._user.items():
            if not isinstance(name, str) or not isinstance(value, (int, float, str)):
                raise SettingError(f"{owner}: custom_lineage_data must be numbers and texts by name, got {name!r}")
        self._landscape = self._wanted.get("collect_landscape")
        self._saved: dict[str, str] = {}
        if self._landscape:
            make_directory(str(self._folder / "ckpt_dir"), f"{owner}: summary_dir")
        self._events: RecordFile | None = None
        self._lineage: RecordFile | None = None
        self._first = True

    def __enter__(self) -> SummaryCollector:
        if _open:
            raise StateError("SummaryCollector: another one is open; there is one at a time in a process")
        _open.append(self)
        device = get_context("device_id")
        self._events = RecordFile(self._folder, "_MS", device)
        self._lineage = RecordFile(self._folder, "_lineage", device)
        self._first = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._events, self._lineage):
            if file is not None:
                file.close()
        _open.clear()

    # -- hooks ---------------------------------------------------------------------------------------------------------
    def begin(self, run_context: RunContext) -> None:
        listed = run_context.original_args().list_callback
        if sum(type(each).__name__ == type(self).__name__ for each in listed) > 1:
            raise SettingError("SummaryCollector: there may be one in a list of callbacks")

    def step_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        if run.mode != "train":
            return
        if self._first:
            self._start(run)
        self._collect(run)
        self._keep_parameters(run, "step", run.cur_step_num)

    def epoch_end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        if run.mode == "train":
            self._collect(run)
            self._keep_parameters(run, "epoch", run.cur_epoch_num)

    def end(self, run_context: RunContext) -> None:
        run = run_context.original_args()
        if run.mode == "train":
            if self._wanted.get("collect_train_lineage"):
                self._add_lineage(train_lineage=lineage.of_training(run, _loss(run)))
            self._describe_landscape(run)
        elif self._wanted.get("collect_eval_lineage"):
            self._add_lineage(evaluation_lineage=lineage.of_evaluation(run))

    # -- what is written -----------------------------------------------------------------------------------------------
    def _start(self, run: Any) -> None:
        graph = session.current().graph_of(run.train_network) if get_context("mode") == GRAPH_MODE else None
        if self._wanted.get("collect_graph") and graph is not None:
            self._add(EVENTS["Event"](graph_def=pb.read(pb.write(graph)).graph.SerializeToString()))
        if self._wanted.get("collect_dataset_graph"):
            self._add_lineage(dataset_graph=lineage.of_dataset(run.train_dataset))
        if self._user:
            self._add_lineage(user_defined_info=lineage.of_user(self._user))
        if self._wanted.get("collect_input_data"):
            _LOG.warning("SummaryCollector: input data is not collected")

    def _collect(self, run: Any) -> None:
        if not self._first and run.cur_step_num % self._freq:
            return
        self._first = False
        event = EVENTS["Event"](step=run.cur_step_num)
        loss = _loss(run) if self._wanted.get("collect_metric") else None
        if loss is not None:
            event.summary.value.add(tag="loss/auto", scalar_value=loss)
        for parameter in self._histograms(run):
            value = event.summary.value.add(tag=f"{parameter.name}/auto")
            value.histogram.CopyFrom(histogram(parameter.asnumpy()))
        if event.HasField("summary"):
            self._add(event)

    def _histograms(self, run: Any) -> list[Any]:
        if "histogram_regular" not in self._wanted or run.optimizer is None:
            return []
        pattern = self._wanted["histogram_regular"]
        if pattern is None:
            return list(run.optimizer.parameters[:SHOWN])
        return [each for each in run.optimizer.parameters if re.match(pattern, each.name)]

    def _add(self, event: Any) -> None:
        file = self._events
        if file is None:
            raise StateError("SummaryCollector: enter it before it collects")
        if file.path is None:
            file.add(EVENTS["Event"](wall_time=time.time(), version=VERSION).SerializeToString())
        event.wall_time = time.time()
        file.add(event.SerializeToString())

    def _add_lineage(self, **content: Any) -> None:
        if self._lineage is None:
            raise StateError("SummaryCollector: enter it before it collects")
        self._lineage.add(LINEAGE["LineageEvent"](wall_time=time.time(), **content).SerializeToString())

    # -- landscapes ----------------------------------------------------------------------------------------------------
    def _keep_parameters(self, run: Any, unit: str, number: int) -> None:
        landscape = self._landscape
        if not landscape or landscape.get("unit", "step") != unit:
            return
        if not any(number in each for each in landscape["intervals"]):
            return
        path = self._folder / "ckpt_dir" / f"{type(run.network).__name__}_{number}_{unit}.ckpt"
        self._saved[str(number)] = str(path)
        if not path.exists():
            save_checkpoint(list(run.network.get_parameters()), str(path))

    def _describe_landscape(self, run: Any) -> None:
        path = self._folder / "ckpt_dir" / "train_metadata.json"
        if not self._landscape or path.exists():
            return
        full = {**settings.LANDSCAPE, **self._landscape}
        groups = {str(at): numbers for at, numbers in enumerate(full.pop("intervals"))}
        described = {"epoch_group": groups, "model_params_file_map": self._saved, "step_per_epoch": run.batch_num}
        described |= {name: full[name] for name in ("unit", "num_samples", "landscape_size", "create_landscape")}
        write_file(path, [json.dumps(described).encode()])


def _loss(run: Any) -> float | None:
    """The mean of the network's output, or of the first output; None if that is not a number."""
    output = run.get("net_outputs")
    output = output[0] if isinstance(output, (tuple, list)) and output else output
    if isinstance(output, (int, float, Tensor)):
        return float(np.mean(output.asnumpy() if isinstance(output, Tensor) else output))
    return None
