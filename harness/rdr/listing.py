"""Lists the recorder files in a directory."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import ArtefactError
from harness.rdr import names
from harness.rdr.folder import Kept
from harness.reading import read_bytes, refuse_outside

MAX_BYTES = 1 << 28
"""Larger files are refused."""

_RANK = re.compile(r"rank_([0-9]{1,10})")


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file of the recorder.

    Attributes:
        path: of the file.
        rank: N of the ``rank_N`` it lies in, or None.
        module: ``SESSION``; empty for the documented ``hwopt`` name.
        name: ``graph_exec_order.0``; a recorder's name with a ``/`` is given with it.
        timestamp: 14 digits, when it was recorded; empty for the documented name.
        number: of a graph's text, else None.
        extension: ``ir``, ``pb``, ``txt``, ``json``.
        top: real path of a directory that no link may leave; by default links may lead anywhere.

    Examples:
        >>> import os
        >>> import numpy as np
        >>> from harness import instruments
        >>> from harness.rdr import artefacts
        >>> environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": os.path.abspath("recorded")}
        >>> with instruments.open("cpu", engine="tinyrt 1.0", environ=environ) as recording:
        ...     graph = recording.eager()
        ...     with recording.step(graph) as step, step.launch(graph.operator("Ones", mutates=())) as launch:
        ...         _ = launch.done(np.ones(2))
        >>> found = {artefact.name: artefact for artefact in artefacts("recorded")}
        >>> found["graph_exec_order.0"].read().decode().splitlines()[0]
        '================== execution order =================='
    """

    path: Path
    rank: int | None
    module: str
    name: str
    timestamp: str
    number: int | None
    extension: str
    top: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Module, name and extension: the parts that are equal in every run."""
        return self.module, self.name, self.extension

    def read(self) -> bytes:
        """The whole file; ``ArtefactError`` if it is not a regular file, is larger than ``MAX_BYTES``, lies outside of
        ``top``, or cannot be read."""
        return read_bytes(self.path, MAX_BYTES, ArtefactError, inside=self.top)


def artefacts(folder: str | os.PathLike[str]) -> tuple[Artefact, ...]:
    """Every recorder file below ``folder``, in the order of rank, module, name, extension, number and timestamp.

    Args:
        folder: the recorder's configured path, a ``rank_N`` directory in it, or an ``rdr`` directory. A missing
            directory holds nothing.

    Files with other names are left out (those of a killed export are hidden).

    Raises:
        ArtefactError: a link that leaves ``folder``.

    Examples:
        >>> import os
        >>> import numpy as np
        >>> from harness import instruments
        >>> from harness.rdr import artefacts
        >>> environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": os.path.abspath("recorded")}
        >>> with instruments.open("cpu", engine="tinyrt 1.0", environ=environ) as recording:
        ...     graph = recording.eager()
        ...     with recording.step(graph) as step, step.launch(graph.operator("Ones", mutates=())) as launch:
        ...         _ = launch.done(np.ones(2))
        >>> found = {artefact.name: artefact for artefact in artefacts("recorded")}
        >>> found["graph_exec_order.0"].read().decode().splitlines()[0]
        '================== execution order =================='
    """
    root = Path(folder)
    top = os.path.realpath(root)
    found = []
    for directory in sorted(_rdr_directories(root)):
        rank = _RANK.fullmatch(directory.absolute().parent.name)
        for path in directory.rglob("*"):
            artefact = _named(path, directory, int(rank[1]) if rank else None)
            if artefact is not None and not path.is_dir():
                refuse_outside(str(path), top, ArtefactError)
                found.append(replace(artefact, top=top))
    return tuple(sorted(found, key=_order))


def kept(folder: Kept) -> list[tuple[Artefact, bytes]]:
    """The recorder files kept in memory, in the order of ``artefacts``, and their contents."""
    root = Path(folder.path)
    found = ((_named(Path(path), root, None), content) for path, content in folder.files.items())
    return sorted(((artefact, content) for artefact, content in found if artefact is not None), key=_by_artefact)


def _named(path: Path, directory: Path, rank: int | None) -> Artefact | None:
    """What the name of a file says; None for a name that the recorder does not use."""
    name = names.parse(path.relative_to(directory).as_posix())
    if name is None:
        return None
    return Artefact(path, rank, name.module, name.name, name.timestamp, name.number, name.extension)


def _by_artefact(pair: tuple[Artefact, bytes]) -> tuple[int, str, str, str, int, str]:
    return _order(pair[0])


def _rdr_directories(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    if _RANK.fullmatch(root.name):
        return [root / "rdr"] if (root / "rdr").is_dir() else []
    found = [path for path in root.glob("rank_*/rdr") if path.is_dir() and _RANK.fullmatch(path.parent.name)]
    return [root, *found] if root.name == "rdr" else found  # the configured path may have that name, too


def _order(artefact: Artefact) -> tuple[int, str, str, str, int, str]:
    rank, number = (-1 if n is None else n for n in (artefact.rank, artefact.number))
    return rank, artefact.module, artefact.name, artefact.extension, number, artefact.timestamp
