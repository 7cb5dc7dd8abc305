"""The Running Data Recorder's files in the form of goldens: the same bytes for every run of the same program.

Files are named without timestamp and number (``SESSION.graph_exec_order.0.txt``; several of one name get ``@1``, ``@2``
in the order they were recorded); texts are without pointers, and source files without directories and line numbers.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.atomic import temporary_directory
from harness.capture.capture import RECORDED
from harness.capture.normalise import ir_text
from harness.devices import Device
from harness.errors import HarnessError
from harness.framework.runtime.observer import Observer
from harness.rdr import Artefact, artefacts

#: Its modes: 1 exports when something fails; 2 also exports after each compilation and at the end.
MODES = (1, 2)

_PLACE = re.compile(r"^( +# (?: - |   )?In file [^\n:]*?):\d+(?:~\d+)?(?:, \d+~\d+)?(?=/)", re.MULTILINE)


def normalised(extension: str, raw: bytes, rootdir: str) -> bytes:
    """An artefact's content without what differs from run to run; content that cannot be parsed stays unchanged.

    Args:
        rootdir: source paths are given relative to it.
    """
    if extension == "ir":
        return _plain(raw.decode("utf-8", "surrogateescape"), rootdir).encode("utf-8", "surrogateescape")
    return _model(raw, rootdir) if extension == "pb" else raw


def _plain(text: str, rootdir: str) -> str:
    return _PLACE.sub(r"\1", ir_text(text, rootdir))


def _model(raw: bytes, rootdir: str) -> bytes:
    model = _read_model(raw)
    if model is None:
        return raw
    try:
        for node in model.graph.node:
            node.source_address = _plain(node.source_address, rootdir)
        written: bytes = model.SerializeToString(deterministic=True)
    except (TypeError, ValueError):  # a text in it is not UTF-8: protobuf gives its bytes
        return raw
    return written


def _read_model(raw: bytes) -> Any:
    from harness.graph import pb  # needs protobuf

    try:
        return pb.read(raw)
    except HarnessError:
        return None


def readable(name: str, raw: bytes) -> bytes:
    """An artefact's content as lines: a graph in protobuf's own text form, everything else as it is."""
    model = _read_model(raw) if name.endswith(".pb") else None
    if model is None:
        return raw
    from google.protobuf import text_format

    try:
        text: str = text_format.MessageToString(model, as_utf8=True)
    except (TypeError, ValueError):
        return raw
    return text.encode("utf-8", "backslashreplace")


def by_name(found: Iterable[Artefact]) -> dict[str, Artefact]:
    """Artefacts of one rank, by their names in a golden."""
    groups: dict[tuple[str, str, str], list[Artefact]] = {}
    for artefact in found:
        groups.setdefault(artefact.key, []).append(artefact)
    names = {}
    for (module, name, extension), group in groups.items():
        stem = f"{module}.{name}" if module else name
        for at, artefact in enumerate(sorted(group, key=lambda each: (each.timestamp, each.number or 0))):
            names[f"{stem}{f'@{at}' if at else ''}.{extension}"] = artefact
    return dict(sorted(names.items()))


def read_recorder(folder: Path, rootdir: str | None = None) -> dict[str, bytes]:
    """The content of a recorder directory by name; all ranks but the first are below ``rank<N>/``.

    Args:
        folder: the recorder's configured path, a ``rank_N`` directory in it, or an ``rdr`` directory.
        rootdir: source paths are given relative to it; the current directory by default.
    """
    root = os.path.abspath(rootdir or os.getcwd())
    texts: dict[str, bytes] = {}
    known: dict[bytes, bytes] = {}  # most stages of a compilation do not change the graph
    ranks = itertools.groupby(artefacts(folder), lambda artefact: artefact.rank)
    for at, (rank, group) in enumerate(ranks):
        for name, artefact in by_name(group).items():
            raw = artefact.read()
            if raw not in known:
                known[raw] = normalised(artefact.extension, raw, root)
            texts[(f"rank{rank}/" if at else "") + name] = known[raw]
    return texts


class RecorderCapture:
    """Runs the recorder in both modes beside a capture, in a directory of its own.

    Args:
        device: device that the networks run on.
        rootdir: source paths are given relative to it.

    Attributes:
        observers: observers to add to the session.
    """

    def __init__(self, device: Device, rootdir: str | None) -> None:
        from harness.rdr import RdrConfig, RdrObserver  # reading does not need the compiler

        self._open = ExitStack()
        self._folder = self._open.enter_context(temporary_directory("msdump-rdr-"))
        self._rootdir = rootdir
        self._found: dict[str, bytes] | None = None
        # Timestamps name files; a clock that always advances keeps two files of one name apart.
        ticks = itertools.count(1)
        self.observers: Sequence[Observer] = [
            RdrObserver(
                RdrConfig(enable=True, mode=mode, path=f"{self._folder}/{mode}/"),
                device,
                clock=lambda: f"{next(ticks):014d}",
            )
            for mode in MODES
        ]

    def artefacts(self) -> dict[str, bytes]:
        """Everything the recorder wrote, as ``rdr/<mode>/<name>``; the first call ends the recording, as the end of a
        process would."""
        if self._found is None:
            for observer in self.observers:
                observer.closed()
            self._found = {
                f"{RECORDED}{mode}/{name}": text
                for mode in MODES
                for name, text in read_recorder(self._folder / str(mode), self._rootdir).items()
            }
        return self._found

    def close(self) -> None:
        """Removes the directory."""
        self._open.close()
