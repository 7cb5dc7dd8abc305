"""The directories of asynchronous dump files.

Up to 2.2 ``{path}/rank_{rank}/{net}/{graph}/{iteration}`` (1.0 to 1.2: ``device_{id}``), overflow records in
``{path}/rank_{rank}/debug_files/{iteration}``, graphs as in the synchronous dump. Later (O2)
``{path}/{step}/{time}/{device}/{model name}/{model id}/{iteration}``, no graphs, and ``acl_dump_{device}.json`` beside
the steps. Sources: MindSpore's documents and the public source of the writer of that file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from harness.dump.config import DumpConfig
from harness.dump.rules import FIRST, GENERATIONS
from harness.recording import Engine

EXCEPTION = 4
MARK = "emulated"
"""Field that marks the tree as not written by a device; nothing else in the tree shows it."""
ENGINE = "engine"
"""Field that names who ran the graphs, if it was another runtime than our emulation."""
_MODES = {0: "all", 1: "input", 2: "output"}
_NO_STEP = "2147483647"
_TIME = "%Y%m%d%H%M%S"
DEBUG_FILES = "debug_files"


@dataclass(frozen=True, slots=True)
class GraphRun:
    """One run of one graph.

    Attributes:
        label: the step's label.
        graph: id of the graph the step started from.
        run: number of earlier runs of that graph.
    """

    label: int
    graph: int
    run: int


class RankLayout:
    """The directories of releases up to 2.2."""

    has_graphs = True

    def __init__(self, config: DumpConfig, rank: int) -> None:
        self._rank = f"{'device' if config.generation == FIRST else 'rank'}_{rank}"
        self._network = config.net_name

    @property
    def root(self) -> tuple[str, ...]:
        """Directory of graphs and execution orders, below the configuration's ``path``."""
        return (self._rank,)

    def tensors(self, place: GraphRun) -> tuple[str, ...]:
        """Directory of a run's tensors, below ``path``."""
        return (self._rank, self._network, str(place.graph), str(place.label))

    def records(self, place: GraphRun) -> tuple[str, ...]:
        """Directory of a run's overflow records."""
        return (self._rank, DEBUG_FILES, str(place.label))


class ModelLayout:
    """The directories of a graph that is sunk completely.

    MindSpore invents the model's name; here it is the network's.

    Args:
        time: time at which the dump began.
    """

    has_graphs = False
    root: tuple[str, ...] = ()

    def __init__(self, config: DumpConfig, rank: int, time: datetime) -> None:
        self._device = str(rank)
        self._model = config.net_name
        self._time = time.strftime(_TIME)

    def tensors(self, place: GraphRun) -> tuple[str, ...]:
        """See ``RankLayout.tensors``."""
        return (str(place.label), self._time, self._device, self._model, str(place.graph), str(place.run))

    records = tensors


Layout = RankLayout | ModelLayout


def layout_of(config: DumpConfig, rank: int, time: datetime) -> Layout:
    """The directories of the configuration's generation."""
    if GENERATIONS.index(config.generation) < GENERATIONS.index("2.4-2.6"):
        return RankLayout(config, rank)
    return ModelLayout(config, rank, time)


def marks(engine: Engine | None) -> dict[str, object]:
    """The fields that say who wrote a tree: ``MARK``, and for another runtime than our emulation ``ENGINE``."""
    return {MARK: True} if engine is None else {MARK: engine.emulated, ENGINE: str(engine)}


def acl_dump_name(rank: int) -> str:
    """Name of the file that passes the configuration to the device's runtime."""
    return f"acl_dump_{rank}.json"


def operators_name(rank: int) -> str:
    """Name of the file beside it that keeps full names of operators; MindSpore has no such file."""
    return f"operators_{rank}.json"


def operators(names: Iterable[str], engine: Engine | None = None) -> str:
    """Its content: the full names of all operators that may have files, and who ran them."""
    return json.dumps({"operators": list(names), **marks(engine)}, separators=(",", ":"), ensure_ascii=False)


def acl_dump(config: DumpConfig, label: int | None, engine: Engine | None = None) -> str:
    """Its content: compact, with sorted keys, and ``marks``.

    Args:
        label: label of the next dumped step; None before the first.
        engine: who runs the graphs; None for an emulation of ours.
    """
    layers: Sequence[str] = [rule.text for rule in config.kernels]
    dump: dict[str, object] = {
        "dump_path": config.path if label is None else f"{config.path}/{label}",
        "dump_mode": _MODES[config.input_output],
        "dump_list": [{"layer": layers}] if layers else [],
        "dump_op_switch": "on",
    }
    if label is None:
        dump["dump_step"] = _NO_STEP
    if config.op_debug_mode == EXCEPTION:
        dump["dump_scene"] = "lite_exception"
    return json.dumps({"dump": dump, **marks(engine)}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
