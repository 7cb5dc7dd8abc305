"""The kinds of artefacts by name, and what is removed from their texts so that two runs can be compared."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.capture.capture import COMPARED, RECORDED

_PATHS = "source paths are relative to the root, installed packages begin with their name; pointers are 0x0"
_RECORDED = (
    "the time stamp and number in its file name are left out (several of one name: @1, @2 in the order of recording); "
)
_GRAPH = _RECORDED + "pointers are 0x0; source files without directory and line number"
_AS_IS = _RECORDED + "the text is as it was written: it holds no time, process id or pointer"


class Kind(NamedTuple):
    """A kind of artefact.

    Attributes:
        words: description for people.
        recorder: whether the Running Data Recorder writes it.
        counts: whether a difference between two runs of one backend is a failure; otherwise the text only
            describes.
        normalised: what is removed or replaced before the text is stored and compared.
    """

    words: str
    recorder: bool
    counts: bool
    normalised: str


#: Of the recorder, by the beginning of the name behind ``rdr/<mode>/`` (the table of docs/rdr.md).
_RECORDER = (
    ("PIPELINE.", "graph after a compile action", _GRAPH),
    ("SESSION.graph_build.", "kernel graph", _GRAPH),
    ("SESSION.graph_exec_order.", "kernels in launch order", _AS_IS),
    ("SESSION.assign_stream.", "streams", _AS_IS),
    ("RUNTIME_FRAMEWORK.mem_address_list", "addresses", _AS_IS),
    ("OPTIMIZER.", "memory plan", _AS_IS),
    ("DEVICE.task_info_graph.", "tasks of a sunk graph", _GRAPH),
    ("hwopt_", "graph before hardware passes", _GRAPH),
)
_OTHERS = (
    ("graphs/", "kernel graph", _PATHS),
    ("execution_order/ms_global", "order of graphs", ""),
    ("execution_order/", "execution order", ""),
    (COMPARED + "watched", "what the mode watched", ""),
    (COMPARED + "training", "losses, metrics, checkpoints, prints", ""),
    (COMPARED + "kernel_args", "arguments of kernels", ""),
    (COMPARED + "stated", "what the dump states beside values", ""),
)
_RANK = re.compile(r"rank_?\d+/")
_MODE = re.compile(r"\d+/")


def kind_of(name: str) -> Kind:
    """The kind of the artefact ``name`` (``rdr/2/SESSION.graph_build.0.ir``), with or without a rank."""
    plain = _RANK.sub("", name, count=1)
    counts = plain.startswith((COMPARED, RECORDED))
    if plain.startswith(RECORDED):
        stem = _MODE.sub("", plain.removeprefix(RECORDED), count=1)
        words, normalised = _first(_RECORDER, stem, "artefact of another recorder", _AS_IS)
        return Kind(words, True, counts, normalised)
    words, normalised = _first(_OTHERS, plain, "text", "")
    return Kind(words, False, counts, normalised)


def _first(table: tuple[tuple[str, str, str], ...], name: str, *otherwise: str) -> tuple[str, ...]:
    return next(((words, text) for prefix, words, text in table if name.startswith(prefix)), otherwise)
