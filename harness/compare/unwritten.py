"""Outputs that the real MindSpore's kernels leave unwritten: the dump shows old memory, which is not compared."""

from __future__ import annotations

from collections.abc import Mapping

from harness.compare.verdict import Comparison, SlotVerdict, Uncompared, Verdict

#: By operator type: measured with MindSpore 2.10.0 on a CPU, see ``docs/differences.md``.
UNWRITTEN: Mapping[str, frozenset[int]] = {
    "Adam": frozenset({0, 1, 2}),
    "AdamWeightDecay": frozenset({0, 1, 2}),
    "BatchNorm": frozenset({1, 2}),
    "LSTM": frozenset({3, 4}),
}
_WHY = "MindSpore's kernel does not write it: old memory was dumped"
_PASSED_ON = "it holds what MindSpore's kernel left unwritten"


def leave_out_unwritten(comparison: Comparison) -> Comparison:
    """Removes differing slots that a kernel left unwritten, and inputs with the same content as such a slot on both
    sides.

    They move to ``uncompared``.
    """
    unwritten = [slot for slot in comparison.slots if _is_unwritten(slot)]
    if not unwritten:
        return comparison
    digests = comparison.digests
    out = {slot.key: _WHY for slot in unwritten}
    contents = {digests.get(key) for key in out}
    for slot in comparison.slots:
        if slot.verdict is Verdict.DIFFERS and slot.key.io == "input" and digests.get(slot.key) in contents:
            out[slot.key] = _PASSED_ON
    left: dict[tuple[object, ...], list[Uncompared]] = {
        where: list(each) for where, each in comparison.uncompared.items()
    }
    for key, why in out.items():
        left.setdefault(key[:5], []).append(Uncompared(key, why, carries=False))
    comparison.uncompared = left
    comparison.slots = [slot for slot in comparison.slots if slot.key not in out]
    comparison.forget_counts()
    return comparison


def _is_unwritten(slot: SlotVerdict) -> bool:
    return (
        slot.verdict is Verdict.DIFFERS and slot.key.io == "output" and slot.key.slot in UNWRITTEN.get(slot.op_type, ())
    )
