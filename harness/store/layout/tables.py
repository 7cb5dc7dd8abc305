"""A run's operators, edges, attributes, results and gaps as tables, and back.

All columns that name something are rows of ``texts``, a list of texts as JSON; -1 stands for nothing. What is read from
a file is checked for type and range, here and once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from harness.errors import StoreError
from harness.lazy import lazy
from harness.recording.described import Described, Edge, Kind
from harness.records import Gap, SlotKey
from harness.store.layout.index import signed
from harness.store.layout.schema import (
    ATTRIBUTES_DTYPE,
    EDGES_DTYPE,
    GAPS_DTYPE,
    IOS,
    KINDS,
    OPERATORS_DTYPE,
    RESULTS_DTYPE,
)
from harness.store.layout.values import identity, text_of, value_of

Array = np.ndarray[Any, np.dtype[Any]]
Place = tuple[int, int]
"""A graph of a run: process rank, and id of the graph."""

_NOTHING = -1
_MOST_SLOTS = 1 << 16
_OUTPUT = re.compile(r"([^();]+)\((\d{1,18}(?:,\d{1,18})*)?\)")
_DTYPES = {
    "operators": OPERATORS_DTYPE, "edges": EDGES_DTYPE, "attributes": ATTRIBUTES_DTYPE, "results": RESULTS_DTYPE,
    "gaps": GAPS_DTYPE,
}  # fmt: skip


@dataclass(frozen=True)
class Declared:
    """What a run says beside its slots.

    Attributes:
        operators: in the order in which they were declared.
        results: what each graph gives.
        gaps: slots that could not be read.
    """

    operators: Sequence[Described] = ()
    results: Mapping[Place, Sequence[Edge]] = field(default_factory=dict)
    gaps: Sequence[Gap] = ()

    def __bool__(self) -> bool:
        return bool(self.operators or self.results or self.gaps)

    @lazy
    def identity(self) -> str:
        """Digest over what the operators are; empty where there are none. Raises as ``values.identity`` does."""
        return identity(self.operators) if self.operators else ""


NOTHING = Declared()


def tables_of(declared: Declared) -> dict[str, Array]:
    """The tables by name, without those that are empty, and ``texts``; empty if there is nothing.

    Raises:
        StoreError: a value or a number cannot be stored; the message names the operator.
    """
    if not declared:
        return {}
    made = _Writer()
    for operator in declared.operators:
        made.operator(operator)
    for place, edges in declared.results.items():
        made.results(place, edges)
    for gap in declared.gaps:
        made.gap(gap)
    found = {}
    for name, rows in made.rows.items():
        if rows:
            try:
                found[name] = np.array(rows, _DTYPES[name])
            except OverflowError:
                raise StoreError(f"{name}: a number takes more than 31 bits") from None
    raw = json.dumps(list(made.texts), separators=(",", ":")).encode()
    return {**found, "texts": np.frombuffer(raw, f"S{len(raw)}")}


class _Writer:
    """Fills tables."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _DTYPES}
        self.texts: dict[str, int] = {}
        self._seen: set[tuple[int, int, str]] = set()

    def text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def given(self, text: str | None) -> int:
        """A text's row; -1 for an empty one."""
        return self.text(text) if text else _NOTHING

    def value(self, value: Any, what: str) -> int:
        try:
            return self.text(text_of(value))
        except (TypeError, ValueError, AttributeError) as error:
            raise StoreError(f"{what} cannot be stored: {error}") from None

    def operator(self, one: Described) -> None:
        key = one.rank, one.graph, one.name
        if key in self._seen:
            raise StoreError(f"two operators are described as {one.name} of rank {one.rank}, graph {one.graph}")
        self._seen.add(key)
        at = len(self.rows["operators"])
        outputs = ";".join("-" if each is None else f"{each[0]}({','.join(map(str, each[1]))})" for each in one.outputs)
        mutates = _NOTHING if one.mutates is None else self.text(",".join(map(str, one.mutates)))
        self.rows["operators"].append(
            (
                one.rank, signed(one.graph), self.text(one.name), self.text(one.type), self.given(one.scope),
                self.given(outputs), mutates, self.given(",".join(f"{a}:{b}" for a, b in sorted(one.aliases.items()))),
                self.given(json.dumps(list(one.parts)) if one.parts else ""), self.given(one.phase),
                self.given(one.source),
            )
        )  # fmt: skip
        for slot in range(max(len(one.inputs), len(one.names))):
            edge = one.inputs[slot] if slot < len(one.inputs) else Edge("unknown")
            named = one.names[slot] if slot < len(one.names) else ""
            self.rows["edges"].append((at, slot, *self.edge(edge, f"{one.name}, input.{slot}"), self.given(named)))
        for name, value in sorted(one.attributes.items()):
            written = self.value(value, f"{one.name}, attribute {name!r}")
            self.rows["attributes"].append((at, self.text(name), written))

    def edge(self, edge: Edge, what: str) -> tuple[int, int, int, int]:
        value = self.value(edge.value, what) if edge.kind == "constant" else _NOTHING
        return KINDS.index(edge.kind), self.given(edge.name), edge.slot, value

    def results(self, place: Place, edges: Iterable[Edge]) -> None:
        rank, graph = place
        for slot, edge in enumerate(edges):
            self.rows["results"].append((rank, signed(graph), slot, *self.edge(edge, f"result {slot}")))

    def gap(self, gap: Gap) -> None:
        key = gap.key
        self.rows["gaps"].append(
            (
                key.rank, signed(key.graph), signed(key.iteration), key.execution, self.text(key.operator),
                self.given(gap.op_type), IOS.index(key.io), key.slot, self.text(gap.why),
            )
        )  # fmt: skip


# --- reading --------------------------------------------------------------------------------------------------------


def declared_of(parts: Mapping[str, bytes]) -> Declared:
    """What tables say, which may be damaged or hostile.

    Args:
        parts: their bytes by name.

    Raises:
        StoreError: they are not what ``tables_of`` makes.
    """
    if not parts:
        return NOTHING
    texts = _texts(parts.get("texts", b""))
    tables = {name: _table(name, parts[name], len(texts)) for name in _DTYPES if name in parts}
    operators = _operators(tables, texts)
    return Declared(operators, _results(tables, texts), _gaps(tables, texts))


def _texts(raw: bytes) -> list[str]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(type(each) is str for each in found):
        raise StoreError("the texts of its operators are no list of texts")
    return found


#: Columns that are rows of ``texts``; those in capitals may be -1.
_POINTS = {
    "operators": "name type SCOPE OUTPUTS MUTATES ALIASES PARTS PHASE SOURCE", "edges": "NAME VALUE NAMED",
    "attributes": "name value", "results": "NAME VALUE", "gaps": "operator TYPE why",
}  # fmt: skip
#: Columns that count something from 0, and those that lie below a bound.
_COUNTS = {"operators": ("rank",), "edges": ("operator", "slot", "from"), "attributes": ("operator",)}
_COUNTS |= {"results": ("rank", "slot", "from"), "gaps": ("rank", "execution", "slot")}


def _table(name: str, raw: bytes, texts: int) -> Array:
    dtype = _DTYPES[name]
    if len(raw) % dtype.itemsize:
        raise StoreError(f"its table {name!r} is not the one this schema version describes")
    rows = np.frombuffer(raw, dtype)
    if not len(rows):
        return rows
    for column in _POINTS[name].split():
        _bounded(name, rows, column.lower(), _NOTHING if column.isupper() else 0, texts)
    for column in _COUNTS[name]:
        _bounded(name, rows, column, 0, _MOST_SLOTS if column in ("slot", "from") and name != "gaps" else 2**31)
    for column, most in (("kind", len(KINDS)), ("io", len(IOS))):
        if column in (rows.dtype.names or ()):
            _bounded(name, rows, column, 0, most)
    return rows


def _bounded(name: str, rows: Array, column: str, least: int, most: int) -> None:
    found = rows[column]
    if int(found.min()) < least or int(found.max()) >= most:
        raise StoreError(f"its table {name!r} has an impossible number in column {column!r}")


def _operators(tables: Mapping[str, Array], texts: Sequence[str]) -> tuple[Described, ...]:
    rows = tables.get("operators", np.empty(0, OPERATORS_DTYPE)).tolist()
    edges: list[list[tuple[Edge, str]]] = [[] for _ in rows]
    attributes: list[dict[str, Any]] = [{} for _ in rows]
    read = _Values(texts)
    for at, slot, kind, name, source, value, named in _rows(tables, "edges"):
        if at >= len(rows) or slot != len(edges[at]):
            raise StoreError("its table 'edges' has a row that belongs to no operator, or slots out of order")
        edges[at].append((read.edge(kind, name, source, value), read.given(named)))
    for at, name, value in _rows(tables, "attributes"):
        if at >= len(rows) or texts[name] in attributes[at]:
            raise StoreError("its table 'attributes' has a row that belongs to no operator, or an attribute twice")
        attributes[at][texts[name]] = read.value(value)
    seen, found = set(), []
    for at, row in enumerate(rows):
        found.append(_operator(row, edges[at], attributes[at], read))
        seen.add((found[-1].rank, found[-1].graph, found[-1].name))
    if len(seen) != len(found):
        raise StoreError("its table 'operators' has an operator twice")
    return tuple(found)


def _operator(
    row: Sequence[int], edges: Sequence[tuple[Edge, str]], attributes: Mapping[str, Any], read: _Values
) -> Described:
    rank, graph, name, kind, scope, outputs, mutates, aliases, parts, phase, source = row
    names = tuple(named for _, named in edges)
    return Described(
        read.texts[name],
        read.texts[kind],
        read.given(scope),
        graph % 2**32,
        rank,
        attributes,
        tuple(edge for edge, _ in edges),
        names if any(names) else (),
        read.made(outputs, _outputs) or (),
        read.made(mutates, _slots),
        read.made(aliases, _aliases) or {},
        read.made(parts, _parts) or (),
        read.given(phase),
        read.given(source) or None,
    )


def _results(tables: Mapping[str, Array], texts: Sequence[str]) -> dict[Place, tuple[Edge, ...]]:
    found: dict[Place, list[Edge]] = {}
    read = _Values(texts)
    for rank, graph, slot, kind, name, source, value in _rows(tables, "results"):
        edges = found.setdefault((rank, graph % 2**32), [])
        if slot != len(edges):
            raise StoreError("its table 'results' has slots out of order")
        edges.append(read.edge(kind, name, source, value))
    return {place: tuple(edges) for place, edges in found.items()}


def _gaps(tables: Mapping[str, Array], texts: Sequence[str]) -> tuple[Gap, ...]:
    found: dict[SlotKey, Gap] = {}
    rows = _rows(tables, "gaps")
    for rank, graph, iteration, execution, operator, kind, io, slot, why in rows:
        key = SlotKey(rank, graph % 2**32, iteration % 2**32, texts[operator], execution, IOS[io], slot)
        found[key] = Gap(key, texts[kind] if kind >= 0 else "", texts[why])
    if len(found) != len(rows):
        raise StoreError("its table 'gaps' has a slot twice")
    return tuple(found.values())


def _rows(tables: Mapping[str, Array], name: str) -> list[tuple[int, ...]]:
    return cast("list[tuple[int, ...]]", tables[name].tolist()) if name in tables else []


class _Values:
    """Reads texts that stand for something; each is read once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._values: dict[int, Any] = {}

    def given(self, at: int) -> str:
        return self.texts[at] if at >= 0 else ""

    def value(self, at: int) -> Any:
        if at not in self._values:
            try:
                self._values[at] = value_of(self.texts[at])
            except ValueError as error:
                raise StoreError(f"its operators have a damaged value: {error}") from None
        return self._values[at]

    def edge(self, kind: int, name: int, slot: int, value: int) -> Edge:
        constant = KINDS[kind] == "constant"
        if constant != (value >= 0):
            raise StoreError("its table of edges has a constant without a value, or a value of something else")
        return Edge(cast(Kind, KINDS[kind]), self.given(name), slot, self.value(value) if constant else None)

    def made(self, at: int, make: Callable[[str], Any]) -> Any:
        """What a text stands for; None for no text."""
        if at < 0:
            return None
        try:
            return make(self.texts[at])
        except (ValueError, TypeError, RecursionError):
            raise StoreError(f"its table 'operators' has the damaged text {self.texts[at][:80]!r}") from None


def _outputs(text: str) -> tuple[tuple[str, tuple[int, ...]] | None, ...]:
    found: list[tuple[str, tuple[int, ...]] | None] = []
    for each in text.split(";"):
        match = _OUTPUT.fullmatch(each)
        if match is None and each != "-":
            raise ValueError(each)
        found.append((match[1], tuple(map(int, match[2].split(","))) if match[2] else ()) if match else None)
    return tuple(found)


def _slots(text: str) -> tuple[int, ...]:
    found = tuple(map(int, text.split(","))) if text else ()
    if any(not 0 <= each < _MOST_SLOTS for each in found):
        raise ValueError(text)
    return found


def _aliases(text: str) -> dict[int, int]:
    return dict(_pair(each) for each in text.split(","))


def _pair(text: str) -> tuple[int, int]:
    one, other = _slots(text.replace(":", ","))
    return one, other


def _parts(text: str) -> tuple[str, ...]:
    found = json.loads(text)
    if not isinstance(found, list) or not all(type(each) is str for each in found):
        raise ValueError(text)
    return tuple(found)
