"""The layout of a golden store, in names and types. ``docs/file-format.md`` describes it in prose.

512 bytes               user block: where ``contents`` lies, see ``head``
/                       attributes: format, schema, network, compression
/contents               JSON: what runs there are, and where the parts of each lie
/parts/<number>         each distinct table and text once
/places                 table: where each object lies
/objects/<hex digest>   each distinct array once
/runs/<backend>/<mode>  attributes: level, attrs, checksum; further parts of a run's key follow, see ``run_path``
    index               hard link into /parts: compound table, a row per slot in execution order
    names               hard link into /parts: table of strings; rows of the index point into it
    tensors/...         hard links into /objects
    <artefact path>     hard links into /parts, texts: graphs/..., execution_order/..., rdr/...
    described/...       hard links into /parts: tables of operators, edges, attributes, results, gaps; their texts
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote_to_bytes

import numpy as np

from harness.errors import StoreError
from harness.records import SlotKey

#: Value of the root attribute ``format``: it tells a golden store from any other HDF5 file.
FORMAT = "msdump golden store"

#: Version of the layout this code writes, and the oldest it reads. A change of layout raises it, and ``read`` learns
#: the old one; ``write.rewrite`` then brings a store up to date.
SCHEMA = 3
OLDEST = 2
#: The first version that describes operators.
DESCRIBED = 3

#: The two levels of a run: it keeps every distinct array, or only digests and statistics.
Level = Literal["tensors", "digest"]
LEVELS: tuple[Level, ...] = ("tensors", "digest")

#: Subdirectory in which a change of a directory's goldens is prepared.
FOLDER = ".msdump-staged"

#: How arrays are stored: as they are, or deflated if that saves at least a tenth.
Compression = Literal["none", "gzip"]
COMPRESSIONS: tuple[Compression, ...] = ("none", "gzip")

#: Largest size of a text attribute in bytes: HDF5 keeps small attributes in the object's header, of 64 KiB at most.
MAX_ATTRIBUTE = 60_000

#: Longest entry of ``names`` in bytes; the longest entry sets the width of the table.
MAX_NAME = 16_384

#: ``source`` of a row whose operator has no source line.
NO_SOURCE = -1

IOS = ("input", "output")
# What ``h5py.enum_dtype`` gives, without the cost of importing h5py.
_IO_TYPE = np.dtype("u1", metadata={"enum": {name: number for number, name in enumerate(IOS)}})

#: One row of the index. ``operator``, ``type``, ``dtype``, ``shape``, ``format`` and ``source`` are rows of ``names``.
INDEX_DTYPE: np.dtype[Any] = np.dtype(
    [
        ("rank", "<i4"),
        ("graph", "<i4"),
        ("iteration", "<i4"),
        ("execution", "<i4"),
        ("operator", "<i4"),
        ("type", "<i4"),
        ("io", _IO_TYPE),
        ("slot", "<i4"),
        ("dtype", "<i4"),
        ("shape", "<i4"),
        ("format", "<i4"),
        ("source", "<i4"),
        ("digest", "V16"),
        ("max", "<f8"),
        ("min", "<f8"),
        ("avg", "<f8"),
        ("l2norm", "<f8"),
        ("count", "<i8"),
        ("negative_count", "<i8"),
        ("positive_count", "<i8"),
        ("zero_count", "<i8"),
        ("nan_count", "<i8"),
        ("negative_inf_count", "<i8"),
        ("positive_inf_count", "<i8"),
    ]
)

#: One row of ``places``, sorted by digest: the offset and number of an object's bytes in the file, and whether they are
#: one chunk under the filters shuffle and deflate.
PLACES_DTYPE: np.dtype[Any] = np.dtype(
    [
        ("digest", "V16"),
        ("offset", "<u8"),
        ("size", "<u8"),
        ("packed", "u1"),
    ]
)

#: What an input of an operator is; see ``recording.described.Kind``.
KINDS = ("result", "parameter", "argument", "constant", "unknown")
_KIND_TYPE = np.dtype("u1", metadata={"enum": {name: number for number, name in enumerate(KINDS)}})

#: One row for each operator. From ``name`` on, columns are rows of ``texts``, -1 for nothing. ``outputs`` is
#: ``Float32(2,3);-``, ``mutates`` ``0,2`` (-1: nobody knows), ``aliases`` ``0:1`` (output, input), ``parts`` JSON.
OPERATORS_DTYPE: np.dtype[Any] = np.dtype(
    [
        ("rank", "<i4"),
        ("graph", "<i4"),
        ("name", "<i4"),
        ("type", "<i4"),
        ("scope", "<i4"),
        ("outputs", "<i4"),
        ("mutates", "<i4"),
        ("aliases", "<i4"),
        ("parts", "<i4"),
        ("phase", "<i4"),
        ("source", "<i4"),
    ]
)
_EDGE = [("kind", _KIND_TYPE), ("name", "<i4"), ("from", "<i4"), ("value", "<i4")]
#: One row for each input of an operator (a row of ``operators``): what it is, the operator, parameter or argument it
#: comes ``from``, a constant's value (JSON), and what the engine calls the input.
EDGES_DTYPE: np.dtype[Any] = np.dtype([("operator", "<i4"), ("slot", "<i4"), *_EDGE, ("named", "<i4")])
#: One row for each attribute of an operator, sorted by name; values are JSON.
ATTRIBUTES_DTYPE: np.dtype[Any] = np.dtype([("operator", "<i4"), ("name", "<i4"), ("value", "<i4")])
#: One row for each value that a graph gives.
RESULTS_DTYPE: np.dtype[Any] = np.dtype([("rank", "<i4"), ("graph", "<i4"), ("slot", "<i4"), *_EDGE])
#: One row for each slot that could not be read, and was accepted so.
GAPS_DTYPE: np.dtype[Any] = np.dtype(
    [
        ("rank", "<i4"),
        ("graph", "<i4"),
        ("iteration", "<i4"),
        ("execution", "<i4"),
        ("operator", "<i4"),
        ("type", "<i4"),
        ("io", _IO_TYPE),
        ("slot", "<i4"),
        ("why", "<i4"),
    ]
)
#: Tables of a run that say what its operators are; ``texts`` is a list of texts, as JSON.
TABLES: dict[str, np.dtype[Any] | None] = {
    "operators": OPERATORS_DTYPE, "edges": EDGES_DTYPE, "attributes": ATTRIBUTES_DTYPE, "results": RESULTS_DTYPE,
    "gaps": GAPS_DTYPE, "texts": None,
}  # fmt: skip

#: Fields of a row that hold a row number of ``names``.
NAME_FIELDS = ("operator", "type", "dtype", "shape", "format", "source")

#: Members of a run's group that are not artefacts; so are ``rank<number>`` and ``@<variant>``.
RESERVED = ("index", "names", "tensors", "described", "modules", "sentinel")


#: What a run is made of: every operator, the boundaries of modules, or digests at these boundaries.
Granularity = Literal["operators", "modules", "sentinel"]
GRANULARITIES: tuple[Granularity, ...] = ("operators", "modules", "sentinel")
#: ``rank`` of a run that holds all of its ranks, or that has but one.
EVERY_RANK = -1


class RunId(NamedTuple):
    """One run of a network: ``cpu`` under dump mode ``tensor``.

    Attributes:
        backend: ``cpu``, ``ascend-o1``, ``torch``, ..., or a name given at an import.
        mode: dump mode, ``tensor`` or ``statistic``.
        granularity: ``operators``, ``modules`` or ``sentinel``.
        rank: of the process, where each rank has a run of its own; ``EVERY_RANK`` for a run that holds all its ranks.
        variant: name of one of several accepted results; empty for the only one.

    Examples:
        >>> from harness.store import RunId
        >>> str(RunId("ascend-o1", "tensor"))
        'ascend-o1/tensor'
        >>> str(RunId("torch", "tensor", "modules", 3, "fused"))
        'torch/tensor/modules/rank3/@fused'
    """

    backend: str
    mode: str
    granularity: str = "operators"
    rank: int = EVERY_RANK
    variant: str = ""

    def __str__(self) -> str:
        return "/".join(self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """Its name in parts; what is as usual has none."""
        granularity = (self.granularity,) if self.granularity != GRANULARITIES[0] else ()
        rank = (f"rank{self.rank}",) if self.rank != EVERY_RANK else ()
        return (self.backend, self.mode, *granularity, *rank, *((f"@{self.variant}",) if self.variant else ()))


# --- readable paths -------------------------------------------------------------------------------------------------

_SLOT_NAME = re.compile(r"(input|output)\.\d+(@\d+)?", re.ASCII)
_RANK = re.compile(r"rank(0|[1-9]\d{0,9})", re.ASCII)


# The same names recur in slot after slot.
@lru_cache(maxsize=4096)
def escape(component: str, reserved: tuple[str, ...] = ()) -> bytes:
    """One path component as an HDF5 link name; ``unescape`` undoes it, so different names stay different.

    ``%``, ``/`` and NUL become ``%XX``; so does the first byte of ``.``, of names that look like a slot (``output.0``)
    and of ``reserved`` words. The empty component becomes ``%``.
    """
    try:
        raw = component.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise StoreError(f"the name {component!r} is not valid Unicode text: {error}") from None
    if not raw:
        return b"%"
    raw = raw.replace(b"%", b"%25").replace(b"/", b"%2F").replace(b"\0", b"%00")
    if component in (".", *reserved) or _SLOT_NAME.fullmatch(component):
        raw = b"%%%02X" % raw[0] + raw[1:]
    return raw


def unescape(link: bytes) -> str:
    """The path component from which ``escape`` made ``link``."""
    return "" if link == b"%" else unquote_to_bytes(link).decode("utf-8", "surrogateescape")


def run_path(run: RunId) -> bytes:
    """HDF5 path of a run's group; ``StoreError`` for a key that no run can have."""
    if not run.backend or not run.mode:
        raise StoreError(f"a run needs a backend and a mode; given were {run.backend!r} and {run.mode!r}")
    if run.granularity not in GRANULARITIES:
        raise StoreError(f"unknown granularity {run.granularity!r}; known are {', '.join(GRANULARITIES)}")
    if type(run.rank) is not int or not EVERY_RANK <= run.rank < 2**31:
        raise StoreError(f"a run's rank is a number from 0, or {EVERY_RANK} for all ranks; given was {run.rank!r}")
    return b"/".join((b"runs", *map(escape, run.parts)))


def run_text(run: RunId) -> str:
    """``cpu/tensor``, escaped as in paths; further parts of the key follow only where they are not as usual."""
    return "/".join(escape(part).decode("utf-8", "surrogateescape") for part in run.parts)


def parse_run(text: str) -> RunId:
    """The run ``run_text`` made ``text`` of; of another text, a run whose ``run_text`` is another one."""
    backend, *rest = map(_unescaped, text.split("/"))
    mode, *rest = rest or [""]
    granularity = rest.pop(0) if rest and rest[0] in GRANULARITIES else GRANULARITIES[0]
    rank = int(rest.pop(0)[4:]) if rest and _RANK.fullmatch(rest[0]) else EVERY_RANK
    variant = rest.pop(0)[1:] if rest and rest[0].startswith("@") else ""
    return RunId("/".join((backend, *rest)), mode, granularity, rank, variant)


@lru_cache(maxsize=4096)
def _unescaped(part: str) -> str:
    return unescape(part.encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=4096)
def named_run(text: str) -> RunId:
    """The run of this name in a table of contents; ``ValueError`` for a name that ``run_text`` never makes, so that no
    two names are those of one run."""
    run = parse_run(text)
    if not run.backend or not run.mode or run.rank >= 2**31 or run_text(run) != text:
        raise ValueError(text)
    return run


def slot_path(key: SlotKey) -> bytes:
    """Path of a slot's tensor below the run's group: ``tensors/rank0/graph0/iteration1/<operator>/output.0``.

    Executions after the first have ``@1``, ``@2``, ... appended. Two slots never share a path.
    """
    where = f"tensors/rank{key.rank}/graph{key.graph}/iteration{key.iteration}".encode()
    operator = b"/".join(escape(part) for part in key.operator.split("/"))
    leaf = f"{key.io}.{key.slot}" + (f"@{key.execution}" if key.execution else "")
    return b"/".join((where, operator, leaf.encode()))


def artefact_path(name: str) -> bytes:
    """Path of a text artefact below the run's group."""
    first, *rest = name.split("/")
    taken = (*RESERVED, first) if first.startswith("@") or _RANK.fullmatch(first) else RESERVED
    return b"/".join((escape(first, taken), *(escape(part) for part in rest)))
