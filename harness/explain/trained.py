"""Which weights gradients reach: what removing or adding gradient operators means for the training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.compare.divergence import Execution
from harness.compare.origin import Origin
from harness.compare.verdict import Comparison, Verdict
from harness.explain.claim import Check
from harness.explain.evidence import Evidence
from harness.explain.explanation import Cause, Certainty
from harness.explain.statements import Statement
from harness.words import counted

_GRADIENTS = "Gradients/"
#: begins the scope of an optimizer's operators, in captures of PyTorch
UPDATES = "Default/optimizer-"
#: operators that give zeros, whatever they take
_ZEROS = frozenset({"ZerosLike", "Zeros", "FillV2", "Fill"})
_NAMED = 3
#: types of the records of a parameter's gradient, and of what a program returned
GRADIENT, RESULT = "Gradient", "Result"


@dataclass(frozen=True)
class Reach:
    """What the optimizer does with the weights of one side.

    Attributes:
        writers: the operator that writes each weight, by the weight's name.
        trained: the weights whose writer takes something that comes from a gradient.
        weights: the parameters that the network takes.
    """

    writers: dict[str, str]
    trained: frozenset[str]
    weights: frozenset[str]


def written(statement: Statement) -> str:
    """The parameter that an operator writes first; empty if it writes none."""
    names = (statement.arguments[at].parameter for at in statement.mutates if at < len(statement.arguments))
    return next(filter(None, names), "")


def is_gradient(name: str) -> bool:
    """Whether an operator of this name computes a gradient."""
    return name.startswith(_GRADIENTS)


def cut_off(comparison: Comparison, origin: Origin) -> Cause | None:
    """The cause if every forward tensor holds, and gradients reach other parameters than before: what both sides
    recorded of their parameters' gradients shows it."""
    updates = UPDATES in origin.where.operator
    if not updates and not is_gradient(origin.where.operator):
        return None
    step, lone = origin.where[:3], {Verdict.MISSING: list[str](), Verdict.UNEXPECTED: list[str]()}
    for slot in comparison.slots:
        if slot.key[:3] != step or slot.verdict.holds:
            continue
        if slot.op_type == GRADIENT and slot.verdict in lone:
            lone[slot.verdict].append(slot.key.operator.removesuffix(".grad"))
        elif slot.op_type == RESULT or (updates and is_gradient(slot.key.operator)):
            return None
    lost, gained = lone.values()
    if bool(lost) == bool(gained):
        return None
    names = lost or gained
    which = names[0] + (f" and {counted(len(names) - 1, 'more parameter')}" if len(names) > 1 else "")
    if updates:
        text = f"the optimizer is given {'no' if lost else 'a'} gradient of {which}"
    else:
        text = (
            f"a part of the gradient is cut off: none reaches {which}" if lost else f"a gradient reaches {which}, too"
        )
    told = {"no gradient": names, "in": "run" if lost else "golden", "iteration": origin.where.iteration}
    return Cause(Certainty.BITS, "gradient", text, check=Check("fact", told))


def reach(side: Sequence[Statement]) -> Reach:
    """Follows the gradients of a graph, whose operators are in order, to what they write."""
    reached: set[str] = set()
    writers: dict[str, str] = {}
    trained: set[str] = set()
    weights: set[str] = set()
    for statement in side:
        name = statement.name
        made = [a.producer[0] for a in statement.arguments if a.producer is not None]
        comes = (is_gradient(name) or any(each in reached for each in made)) and statement.op not in _ZEROS
        if comes:
            reached.add(name)
        target = written(statement)
        if target:
            writers[target] = name
            trained |= {target} if comes else set()
        if not comes:
            taken = (a for at, a in enumerate(statement.arguments) if at not in statement.mutates and not a.is_data)
            weights |= {a.parameter for a in taken if a.parameter}
    return Reach(writers, frozenset(trained), frozenset(weights))


@dataclass(frozen=True)
class Change:
    """Weights that gradients reach on one side only.

    Attributes:
        lost: whether it is the run that does not train them.
        names: the weights, in the order in which the network takes them.
        stays: whether nothing writes them at all.
    """

    lost: bool
    names: tuple[str, ...]
    stays: bool

    def __str__(self) -> str:
        some = ", ".join(self.names[:_NAMED])
        some += f" and {len(self.names) - _NAMED} more" if len(self.names) > _NAMED else ""
        if self.stays:
            verb = "is" if len(self.names) == 1 else "are"
            return f"{some} {verb} {'not trained' if self.lost else 'trained, unlike in the golden'}"
        return f"no gradient reaches {some}" if self.lost else f"a gradient reaches {some}, unlike in the golden"


def change(expected: Sequence[Statement], found: Sequence[Statement]) -> Change | None:
    """The weights of both sides that only one side trains; None if there are none, or each side has some."""
    one, other = reach(expected), reach(found)
    both = one.weights & other.weights
    lost, gained = (one.trained - other.trained) & both, (other.trained - one.trained) & both
    if bool(lost) == bool(gained):
        return None
    without, names = (other, lost) if lost else (one, gained)
    order = [a.parameter for each in expected for a in each.arguments if a.parameter in names]
    unwritten = {name for name in names if name not in without.writers}
    ordered = tuple(str(each) for each in dict.fromkeys(order) if not unwritten or each in unwritten)
    return Change(bool(lost), ordered, bool(unwritten))


def is_unchanged(run: Evidence, name: str, rank: int) -> bool:
    """Whether every dump of a parameter has the same content, and there are several: nothing trains it."""
    contents = []
    for key, record in run.by_key.items():
        if key.rank != rank:
            continue
        statement = run.graphs.statement(key.graph, key.operator) if key.io == "input" else None
        argument = statement.arguments[key.slot] if statement and key.slot < len(statement.arguments) else None
        if key.operator == name or (argument is not None and argument.parameter == name):
            contents.append(run.content(record))
    return len(contents) > 1 and None not in contents and len(set(contents)) == 1


def writer_of(run: Evidence, name: str, where: Execution) -> Execution | None:
    """The execution that writes a weight in the step of ``where``."""
    writer = reach(run.graphs.operators(where.graph)).writers.get(name)
    found = None if writer is None else where._replace(operator=writer, execution=0)
    return found if found is not None and run.has(found) else None
