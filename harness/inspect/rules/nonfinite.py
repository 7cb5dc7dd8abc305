"""NaN and infinity: where they began, and why."""

from __future__ import annotations

from harness.inspect.numbers import limit
from harness.inspect.origins import NAN, Origin, Search
from harness.inspect.reasons import Reason, reason_of
from harness.inspect.rule import Certainty, Context, rule
from harness.inspect.run import Op, Run
from harness.inspect.training import data_of
from harness.words import counted

_WORDS = {1: "infinity", 2: "NaN"}


@rule(
    "nonfinite",
    "NaN and infinity: the first operator whose inputs are finite and whose result is not, and why",
    order=10,
    skipped=(4, "steps in a row that a loss scale may leave out before that is an error"),
)
def nonfinite(context: Context) -> None:
    """Each origin is one finding; what follows from it is folded under it."""
    origins = context.once("origins", lambda run: Search(run).origins)
    for origin in origins:
        if not origin.meant:
            _tell(context, origin)


def _tell(context: Context, origin: Origin) -> None:
    if origin.op is None:
        _tell_given(context, origin)
        return
    op = origin.op
    reason = _reason(context.run, origin, op)
    harmful = bool(origin.parameters or origin.ends or origin.vanished)
    leaves_out = origin.checked and not origin.parameters
    error = (harmful and not leaves_out) or _always(context, origin, op)
    what = _WORDS[origin.level]
    text = (
        f"{op.kind} makes {what} of {'inputs that are finite' if not origin.unsure else 'what was kept of its inputs'}"
    )
    if origin.by_input is not None:
        text = f"{op.kind} makes {what} of infinity that input.{origin.by_input} holds on purpose"
    if leaves_out:
        text += "; the step checks for that"
    elif origin.vanished is not None and not (origin.parameters or origin.ends):
        text += f"; {origin.vanished.name} makes 0 of it"
    elif not harmful:
        text += "; nothing that remains holds it"
    where = f" at {list(reason.index)}" if reason.index else ""
    context.at(
        op, reason.kind if reason.kind != "unknown" else what, f"{text}{where}", error=error,
        certainty=reason.certainty, reason=reason.text, elements=reason.elements, folded=_folded(origin),
        details=_details(op, origin),
    )  # fmt: skip


def _reason(run: Run, origin: Origin, op: Op) -> Reason:
    reason = reason_of(run, op)
    if reason.kind == "unknown" and origin.by_input is not None:
        text = "a row of it holds infinity alone" if op.family == "softmax" else "infinity in its input"
        return Reason("infinity minus infinity", text, Certainty.LIKELY, reason.elements, reason.index)
    return reason


def _always(context: Context, origin: Origin, op: Op) -> bool:
    """Whether a loss scale leaves out too many steps in a row."""
    steps = context.run.iterations.get(op.where.rank, [])
    seen = {op.where.iteration, *origin.steps}
    longest = row = 0
    for step in steps:
        row = row + 1 if step in seen else 0
        longest = max(longest, row)
    return origin.checked and longest > context["skipped"]


def _folded(origin: Origin) -> str:
    parts = []
    if origin.followers:
        steps = len(origin.steps | {origin.iteration})
        parts.append(f"{counted(origin.followers, 'later execution')} in {counted(steps, 'step')}")
    if origin.first_nan is not None and origin.first_nan is not origin.op:
        parts.append(f"NaN from {origin.first_nan.name} on")
    if origin.parameters:
        parts.append(f"{counted(len(origin.parameters), 'parameter')} ({', '.join(origin.parameters[:3])})")
    return "; ".join(parts)


def _details(op: Op, origin: Origin) -> dict[str, object]:
    found: dict[str, object] = {}
    for at, slot in op.outputs.items():
        if slot.numbers is not None and slot.numbers.bad:
            found[f"output.{at}"] = {"nan": slot.numbers.nan, "inf": slot.numbers.inf, "of": slot.numbers.count}
            found["limit"] = limit(slot.record.dtype)
    for at, slot in op.inputs.items():
        if slot.numbers is not None and slot.is_floating:
            found[f"input.{at}"] = {"min": slot.numbers.low, "max": slot.numbers.high}
    return found


def _tell_given(context: Context, origin: Origin) -> None:
    name = origin.parameter
    own = {each for _, each in context.run.parameters}
    data = name in data_of(context.run)
    kind = "given by data" if data else "given by weights" if name in own else "given"
    what = "data" if data else "parameter" if name in own else "input"
    unwritten = kind == "given" and origin.unwritten and context.run.backend == "torch"
    if unwritten:
        kind = "memory never written"
    many = _WORDS.get(origin.level, _WORDS[NAN])
    context.add(
        kind, f"the {what} {name} holds {many} when it is first read", operator=name, iteration=origin.iteration,
        rank=origin.rank, folded=_folded(origin), reason=f"no recorded operator made it ({kind})",
        certainty=Certainty.LIKELY if unwritten else Certainty.SHOWN,
    )  # fmt: skip
