"""What a failed comparison tells a person: at most 40 lines and 4 kB, whatever the size of what differs."""

from __future__ import annotations

from collections.abc import Sequence

from harness import dtypes
from harness.compare.first_divergence import first_divergence
from harness.compare.measurement import Number
from harness.compare.origin import MEANING, Kind, Origin
from harness.compare.smallest_tolerance import nearby, would_pass
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.records import SlotKey

MAX_LINES = 40
MAX_BYTES = 4000

#: Room for a name in a line; longer ones lose their middle.
_NAME = 110

_OTHERS = 8
_COMMANDS = 4


def explain(
    comparison: Comparison,
    *,
    network: str,
    backend: str,
    mode: str,
    golden: str | None = None,
    against: str | None = None,
    next_steps: Sequence[str] = (),
    looks: Sequence[str] = (),
) -> str:
    """The failure in words: where it began, by how much, how far it went, and what to run next.

    Args:
        comparison: from ``check``.
        network, backend, mode: what was compared.
        golden: path of the store.
        against: what it was compared with, where that is no golden.
        next_steps: commands to offer.
        looks: a few lines about the first divergence.
    """
    other = _short(against) if against else f"its golden {_short(golden)}" if golden else "its golden"
    state = "agrees with" if comparison.holds else "does not agree with"
    head = [f"{_short(network)} [{_short(backend, 40)}-{_short(mode, 40)}] {state} {other}", _counts(comparison)]
    if not comparison.slots:
        head.append("Nothing was compared: neither side has a slot.")
    divergence = first_divergence(comparison)
    if divergence is not None:
        head += [*_divergence(divergence), *looks]
    head += _structure(comparison)
    told = {slot.key for slot in divergence.slots} if divergence is not None else set()
    failing = comparison.failures()
    others = [slot for slot in failing if slot.key not in told]
    all_pass = would_pass(comparison) if len(failing) > 1 else None
    commands = [f"  {_short(command, 200)}" for command in next_steps[:_COMMANDS]]
    tail = ["What to run next:", *commands] if commands else []
    tail = [*([f"All {len(failing)} would pass with {all_pass}"] if all_pass else []), *tail]
    return _fitted(head, [_line(slot) for slot in others[: _OTHERS - len(looks)]], len(others), tail)


def _counts(comparison: Comparison) -> str:
    rare = (Verdict.STATISTICS, Verdict.UNSURE)
    told = {verdict: count for verdict, count in comparison.counts.items() if count or verdict not in rare}
    parts = ", ".join(f"{count} {verdict.value}" for verdict, count in told.items())
    return f"{len(comparison.slots)} slots: {parts}"


def _divergence(divergence: Origin) -> list[str]:
    first = divergence.slots[0]
    lines = [f"First divergence: {_place(first)}"]
    if divergence.found_as is not None:
        lines.append(f"  found as {_short(divergence.found_as)}")
    if first.source:
        lines.append(f"  at {_short(first.source)}")
    after = [slot.key.slot_name for slot in divergence.slots if slot.overwritten]
    note = f" ({', '.join(after)}: overwritten by the operator, shown as it was afterwards)" if after else ""
    told = divergence.title() if divergence.kind.structural else MEANING[divergence.kind]
    lines.append(f"  {_short(told, 300)}{note}")
    if divergence.kind is not Kind.COMPUTED and divergence.before != (None, None):
        lines.append("  after {} (golden), {} (run)".format(*(_short(name) or "nothing" for name in divergence.before)))
    if divergence.earliest is not None:
        lines.append(f"  earlier, an input differed without being its cause: {_place(divergence.earliest)}")
    for slot in divergence.slots[:2]:
        lines += _slot(slot)
    return lines


def _slot(slot: SlotVerdict) -> list[str]:
    """A differing slot in detail."""
    lines = [f"  {slot.key.slot_name} {slot.dtype}{_index(slot.shape)}: {_short(slot.reason, 400)}"]
    m = slot.measurement
    if m is None or not m.unequal:
        return lines
    lines.append(f"    tolerance: {slot.tolerance}; outside it: {m.outside} of {m.count}")
    ulp = f"; max ULP error {m.max_ulp}{_at(m.at_ulp)}" if m.max_ulp is not None else ""
    lines.append(
        f"    max abs error {_number(m.max_abs)}{_at(m.at_abs)}; max rel error {m.max_rel:.6g}{_at(m.at_rel)}{ulp}"
    )
    if m.worst is not None:
        expected, found = (_value(v, slot.dtype) for v in (m.worst.expected, m.worst.found))
        lines.append(f"    at {_index(m.worst.index)}: expected {expected}, found {found}")
    if m.max_ulp is not None:
        lines.append(
            f"    NaN: {m.expected_nan} expected, {m.found_nan} found; "
            f"Inf: {m.expected_inf} expected, {m.found_inf} found"
        )
    passes = nearby(m, slot.tolerance)
    return [*lines, f"    it would pass with {passes}"] if passes is not None else lines


def _structure(comparison: Comparison) -> list[str]:
    """What changed in the run's structure."""
    lines = []
    one_sided = (Verdict.MISSING, Verdict.UNEXPECTED)
    if (lone := next((slot for slot in comparison.slots if slot.verdict in one_sided), None)) is not None:
        lines.append(f"First {lone.verdict.value}: {_place(lone)}")
        lines += [f"  at {_short(lone.source)}"] if lone.source else []
    if (order := comparison.order) is not None:
        lines.append(f"Execution order changed at operator {order.position}:")
        lines.append(f"  expected {_short(order.expected[3])} (iteration {order.expected[2]})")
        lines.append(f"  found    {_short(order.found[3])} (iteration {order.found[2]})")
    for rename in comparison.renames[:2]:
        lines.append(f"Renamed? missing {_short(rename.expected)}, unexpected {_short(rename.found)}")
    if len(comparison.renames) > 2:
        lines.append(f"  and {len(comparison.renames) - 2} more such pairs")
    return lines


def _line(slot: SlotVerdict) -> str:
    """A failing slot in one line."""
    m = slot.measurement
    if slot.verdict is not Verdict.DIFFERS:
        what = f"{slot.verdict.value} {slot.dtype}{_index(slot.shape)}"
    elif m is None or not m.unequal or m.nonfinite:
        what = slot.reason
    else:
        found = nearby(m, slot.tolerance)
        passes = f", passes with {found}" if found is not None else ""
        what = f"{m.outside} of {m.count}, max abs {_number(m.max_abs)}{passes}"
    return f"  {_place(slot)} {slot.key.slot_name}: {_short(what, 120)}"


def _place(slot: SlotVerdict) -> str:
    key: SlotKey = slot.key
    rank = f"rank {key.rank}, " if key.rank else ""
    again = f" (execution {key.execution})" if key.execution else ""
    return f"{rank}graph {key.graph}, iteration {key.iteration}, {_short(key.operator)}{again}"


def _fitted(head: list[str], others: list[str], total: int, tail: list[str]) -> str:
    """Joins the parts, leaving out as many of ``others`` (of ``total``) as the limits ask for."""
    while True:
        left = total - len(others)
        more = [f"Also failing ({total}):", *others] if total else []
        more += [f"  and {left} more"] if total and left and others else []
        lines = head + more + tail
        if (_fits(lines)) or not others:
            break
        others = others[:-1]
    return _clipped(lines)


def _fits(lines: list[str]) -> bool:
    return len(lines) <= MAX_LINES and len("\n".join(lines).encode()) <= MAX_BYTES


def _clipped(lines: list[str]) -> str:
    """The last resort: cuts what still does not fit."""
    raw = "\n".join(lines[:MAX_LINES]).encode()
    return raw[:MAX_BYTES].decode(errors="ignore")


def _short(text: str | None, room: int = _NAME) -> str:
    """``text`` without its middle if it is longer than ``room``; control characters made visible."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text or "")
    if len(text) <= room:
        return text
    keep = (room - 3) // 2
    return f"{text[:keep]}...{text[-keep:]}"


def _index(index: Sequence[int]) -> str:
    return f"[{', '.join(map(str, index))}]"


def _at(index: Sequence[int] | None) -> str:
    return f" at {_index(index)}" if index is not None else ""


def _number(value: float | int) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _value(value: Number, dtype: str) -> str:
    """A value with as many digits as tell it from its neighbours."""
    kind = dtypes.by_name(dtype)
    return str(kind.numpy.type(value)) if kind.kind in "fc" else str(value)
