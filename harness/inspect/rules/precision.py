"""Precision: numbers near the limits of their dtype, gradients lost below it, sums that cancel."""

from __future__ import annotations

from harness.inspect.numbers import limit, smallest_normal
from harness.inspect.roles import BACKWARD, FORWARD
from harness.inspect.rule import Context, rule
from harness.inspect.run import Op


@rule("near-limit", "numbers near the largest of a dtype of 16 bits, or at it", order=50,
      share=(0.5, "part of the largest number that is worth a note"))  # fmt: skip
def near_limit(context: Context) -> None:
    """Float16 ends at 65504; a device that saturates stays there."""
    for op in context.run.ops:
        for slot in op.outputs.values():
            numbers = slot.numbers
            if slot.record.dtype != "Float16" or numbers is None or numbers.bad or op.family in ("view", "masked"):
                continue
            top = limit("Float16")
            if numbers.peak >= top and not _made_of_limit(op):
                context.at(op, "saturated at the largest number", f"a result is {numbers.peak:g}, the largest Float16")
                return
            if numbers.peak > context["share"] * top and not _made_of_limit(op):
                text = f"the largest result is {numbers.peak:g}, and Float16 ends at {top:g}"
                context.at(op, "near the largest Float16", text, error=False)
                return


def _made_of_limit(op: Op) -> bool:
    """Whether an input is as large: masks use such numbers on purpose."""
    known = [slot.numbers.peak for slot in op.inputs.values() if slot.numbers is not None]
    return not known or max(known) > limit("Float16") / 4


@rule("underflow", "gradients of 16 bits that are lost below the smallest number of their dtype", order=45,
      share=(0.5, "share of zeros or of numbers without all their digits that is an error"))  # fmt: skip
def underflow(context: Context) -> None:
    """Casts to float16 that make zeros of numbers, and gradients below its normal numbers. A vector alone is a note:
    the gradient of a bias before a normalisation is the rounding of a sum that is 0."""
    vector: tuple[Op, str] | None = None
    for op in context.run.ops:
        if op.phase == FORWARD and op.family != "cast":
            continue
        for slot in op.outputs.values():
            numbers, share = slot.numbers, slot.seen.get("subnormal")
            if slot.record.dtype != "Float16" or numbers is None or numbers.bad or not numbers.count:
                continue
            lost = _lost(op, numbers.zero)
            part = max(share or 0.0, lost)
            if part < context["share"] or op.phase not in (BACKWARD, FORWARD):
                continue
            size = f"below {smallest_normal('Float16'):.2g}, the smallest Float16 with all digits"
            text = f"{part:.0%} of the elements of {op.kind} are lost or {size}"
            if len(slot.record.shape) < 2:
                vector = vector or (op, text)
                continue
            context.at(op, "float16 underflow", text, error=op.phase == BACKWARD or lost >= context["share"])
            return
    if vector is not None:
        context.at(vector[0], "float16 underflow", vector[1], error=False)


def _lost(op: Op, zeros: int | None) -> float:
    """Share of the elements that a cast made zero."""
    given = op.inputs.get(0)
    if op.family != "cast" or given is None or given.numbers is None or zeros is None or given.numbers.zero is None:
        return 0.0
    if given.numbers.count == 0:
        return 0.0
    return max(0, zeros - given.numbers.zero) / given.numbers.count


@rule("cancellation", "differences so much smaller than what they are made of that few digits are left", order=51,
      digits=(1.0, "decimal digits that remain"))  # fmt: skip
def cancellation(context: Context) -> None:
    """A difference whose largest element is a small multiple of its operands' rounding."""
    from harness.inspect.numbers import rounding

    for op in context.run.ops:
        slot = op.outputs.get(0)
        if op.phase != FORWARD or op.family != "sub" or slot is None or slot.numbers is None or slot.numbers.bad:
            continue
        known = [s.numbers for s in op.inputs_of_numbers if s.numbers is not None]
        if len(known) != 2 or slot.numbers.all_zero or slot.numbers.count < 2:
            continue
        room = rounding(slot.record.dtype) * min(each.rms for each in known) * 10 ** context["digits"]
        if 0 < slot.numbers.rms < room:
            text = f"operands of size {known[0].rms:.3g} leave a difference of {slot.numbers.rms:.3g}"
            context.at(op, "cancellation", text, error=False)
            return
