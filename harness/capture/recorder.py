"""The Running Data Recorder's files in the form of goldens: the same bytes for every run of the same program.

Files are named without timestamp and number (``SESSION.graph_exec_order.0.txt``; several of one name get ``@1``, ``@2``
in the order they were recorded); texts are without pointers, and source files without directories and line numbers.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.capture.capture import RECORDED
from harness.capture.normalise import ir_text
from harness.errors import HarnessError
from harness.rdr import Artefact, artefacts
from harness.rdr.folder import Kept
from harness.rdr.listing import kept

if TYPE_CHECKING:
    from harness.devices import Device
    from harness.recording import Observer

#: Its modes: 1 exports when something fails; 2 also exports after each compilation and at the end.
MODES = (1, 2)

#: Bytes of a text that is remembered; with 64 of them at most 32 MiB are kept.
_REMEMBERED = 2**19


def normalised(extension: str, raw: bytes, rootdir: str) -> bytes:
    """An artefact's content without what differs from run to run; content that cannot be parsed stays unchanged.

    Args:
        rootdir: source paths are given relative to it.
    """
    if extension not in ("ir", "pb"):
        return raw
    return (_again if len(raw) <= _REMEMBERED // 2 else _normal)(extension, raw, rootdir)


def _normal(extension: str, raw: bytes, rootdir: str) -> bytes:
    if extension == "ir":
        text = ir_text(raw.decode("utf-8", "surrogateescape"), rootdir, numbered=False)
        return text.encode("utf-8", "surrogateescape")
    return _model(raw, rootdir)


# The stages of a compilation mostly have equal graphs, and so do the devices.
_again = lru_cache(maxsize=64)(_normal)


def _model(raw: bytes, rootdir: str) -> bytes:
    model = _read_model(raw)
    if model is None:
        return raw
    try:
        for node in model.graph.node:
            node.source_address = ir_text(node.source_address, rootdir, numbered=False)
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


def read_kept(folder: Kept, rootdir: str) -> dict[str, bytes]:
    """The content of what a recorder kept in memory by name; as ``read_recorder``.

    Args:
        rootdir: source paths are given relative to it; absolute.
    """
    contents = dict(kept(folder))
    return {
        name: normalised(artefact.extension, contents[artefact], rootdir)
        for name, artefact in by_name(contents).items()
    }


def read_recorder(folder: Path, rootdir: str | None = None) -> dict[str, bytes]:
    """The content of a recorder directory by name; all ranks but the first are below ``rank<N>/``.

    Args:
        folder: the recorder's configured path, a ``rank_N`` directory in it, or an ``rdr`` directory.
        rootdir: source paths are given relative to it; the current directory by default.
    """
    root = os.path.abspath(rootdir or os.getcwd())
    texts: dict[str, bytes] = {}
    ranks = itertools.groupby(artefacts(folder), lambda artefact: artefact.rank)
    for at, (rank, group) in enumerate(ranks):
        for name, artefact in by_name(group).items():
            texts[(f"rank{rank}/" if at else "") + name] = normalised(artefact.extension, artefact.read(), root)
    return texts


class RecorderCapture:
    """Runs the recorder in both modes beside a capture; its files stay in memory.

    Args:
        device: device that the networks run on.
        rootdir: source paths are given relative to it.

    Attributes:
        observers: observers to add to the session.
    """

    def __init__(self, device: Device, rootdir: str | None) -> None:
        from harness.rdr import RdrConfig, RdrObserver  # reading does not need the compiler

        self._folders = {mode: Kept(f"/{mode}/rdr") for mode in MODES}
        self._rootdir = os.path.abspath(rootdir or os.getcwd())
        self._found: dict[str, bytes] | None = None
        # Timestamps name files; a clock that always advances keeps two files of one name apart.
        ticks = itertools.count(1)
        observers: list[RdrObserver] = []
        for mode, folder in self._folders.items():
            config = RdrConfig(enable=True, mode=mode, path=f"/{mode}/")
            observers.append(RdrObserver(config, device, clock=lambda: f"{next(ticks):014d}", folder=folder))
        self.observers: Sequence[Observer] = observers

    def artefacts(self) -> dict[str, bytes]:
        """Everything the recorder wrote, as ``rdr/<mode>/<name>``; the first call ends the recording, as the end of a
        process would."""
        if self._found is None:
            for observer in self.observers:
                observer.closed()
            self._found = {
                f"{RECORDED}{mode}/{name}": text
                for mode, folder in self._folders.items()
                for name, text in read_kept(folder, self._rootdir).items()
            }
        return self._found

    def close(self) -> None:
        """Lets go of the files."""
        for folder in self._folders.values():
            folder.files.clear()
