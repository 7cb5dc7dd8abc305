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
    """Removes differing slots that a kernel left unwritten, and inputs of later operators with the same content as such
    a slot on both sides.

    They move to ``uncompared``. Old memory often holds what an earlier operator gave: an input whose content a written
    output has on both sides is that output's.
    """
    unwritten = [slot for slot in comparison.slots if _is_unwritten(slot)]
    if not unwritten:
        return comparison
    digests = comparison.digests
    out = {slot.key: _WHY for slot in unwritten}
    written = {digests.get(slot.key) for slot in comparison.slots if slot.key.io == "output" and slot.key not in out}
    left_over: set[object] = set()  # so far, in the order of execution
    for slot in comparison.slots:
        content = digests.get(slot.key, (None, None))
        if slot.key in out:
            left_over |= set() if None in content else {content}
        elif slot.verdict is Verdict.DIFFERS and slot.key.io == "input" and content in left_over - written:
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
