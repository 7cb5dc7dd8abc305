"""What rules about weights share: the training, and where a finding about a weight stands."""

from __future__ import annotations

from harness.inspect.rule import Context
from harness.inspect.training import Training, Weight, training_of


def training_in(context: Context) -> Training:
    """The run as a training, made once for all rules."""
    found: Training = context.once("training", training_of)
    return found


def at_weight(context: Context, weight: Weight, kind: str, text: str, **more: object) -> None:
    """Adds a finding at a weight, in the first step; further arguments are those of ``Finding``."""
    place = {
        "operator": weight.name, "layer": weight.op.layer, "rank": weight.rank, "source": context.run.place(weight.op),
        "iteration": context.run.iterations[weight.rank][0],
    }  # fmt: skip
    context.add(kind, text, **{**place, **more})  # type: ignore[arg-type]
