"""Applies what a proven cause states to the golden run, from its JSON alone: it shares nothing with explain.

Both runs are watched while they run, so that what each launch took is known as it was before it. ``python -m
tests.explain.computed_again COUNT SEED`` does it for faults in fresh networks.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from harness import dtypes
from harness.backends import BACKENDS
from harness.framework.runtime import session
from harness.framework.runtime.replaying import Emulator
from harness.framework.seed import seeded
from harness.recording import Call, Described, Graph, Launch, Observer, Step, described
from harness.testing.faults import Fault, faults, judged
from tests.explain.reapplied import given

Array = np.ndarray[Any, np.dtype[Any]]
At = tuple[int, str]


class Watched(Observer):
    """A run with all that its launches took and gave, by iteration and operator.

    Attributes:
        operators: by name.
        before: value of each input slot before the launch.
        outputs, after: what it gave, and its inputs afterwards.
        counts: number of earlier launches.
        kept: parameters at the end of each step.
    """

    before = True  # type: ignore[assignment]

    def __init__(self) -> None:
        self.operators: dict[str, Described] = {}
        self.taken: dict[At, dict[int, Array]] = {}
        self.outputs: dict[At, dict[int, Array]] = {}
        self.after: dict[At, dict[int, Array]] = {}
        self.counts: dict[At, int] = {}
        self.kept: dict[int, dict[str, Array]] = {}
        self._iteration = -1

    def graph_declared(self, graph: Graph) -> None:
        self.operators |= {each.name: described(each) for each in graph.operators}

    def step_begin(self, step: Step) -> None:
        self._iteration += 1

    def launch_begin(self, launch: Launch) -> None:
        at = self._iteration, launch.operator.name
        self.taken[at] = {value.index: np.array(value.array) for value in launch.inputs}
        self.counts[at] = sum(name == at[1] for _, name in self.outputs)

    def launch_end(self, launch: Launch) -> None:
        at = self._iteration, launch.operator.name
        self.outputs[at] = {value.index: np.array(value.array) for value in launch.outputs}
        self.after[at] = {value.index: np.array(value.array) for value in launch.updated}

    def step_end(self, step: Step) -> None:
        self.kept[self._iteration] = {parameter.name: np.array(array) for parameter, array in step.parameters()}

    def call(self, at: At) -> Call:
        """One launch."""
        operator = self.operators[at[1]]
        values: dict[int, Any] = {}
        for slot, edge in enumerate(operator.inputs):
            if edge.kind == "constant" and not isinstance(edge.value, np.ndarray):
                values[slot] = edge.value
            elif slot in self.taken[at]:
                values[slot] = self.taken[at][slot]
            elif edge.kind == "constant":
                values[slot] = edge.value
        names = tuple(dtypes.from_numpy(each.dtype).name for _, each in sorted(self.outputs[at].items()))
        return Call(operator, values, names, self.counts[at])

    def contents(self) -> set[bytes]:
        """The bits of everything it took or gave."""
        every = (*self.taken.values(), *self.outputs.values(), *self.after.values())
        return {each.tobytes() for slots in every for each in slots.values()} | {
            each.tobytes() for names in self.kept.values() for each in names.values()
        }


def watched(network: Any, strike: Any = None) -> Watched:
    """A run of a network of ``harness.testing.faults``."""
    watch = Watched()

    def program() -> None:
        if strike is not None:
            session.current().faults.append(strike)
        network.train()

    with seeded(network.seed % 2**32), BACKENDS.get("cpu").open(network="net") as process:
        process.session.recording.add(watch)
        process.execute(program)
    return watch


# -- applied -----------------------------------------------------------------------------------------------------------
def _tf32(values: Array) -> Array:
    """10 bits of the mantissa, to nearest, ties away from zero."""
    raw = values.view(np.uint32).astype(np.uint64) + 0x1000
    return np.where(np.isfinite(values), (raw & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32), values)


def _through(values: Array, name: str) -> Array:
    if name == "TensorFloat-32":
        return _tf32(values)
    return values.astype(getattr(ml_dtypes, name, name)).astype(values.dtype)


def _plain(told: Any, before: Any) -> Any:
    """A value of JSON as the operator had it."""
    if isinstance(told, list):
        return np.asarray(told, before.dtype) if isinstance(before, np.ndarray) else tuple(told)
    if isinstance(before, dtypes.DType):
        return dtypes.by_name(told)
    return np.asarray(told, before.dtype) if isinstance(before, np.ndarray) else told


def _slot(name: str) -> int:
    return int(name.partition(".")[2])


def _sums(call: Call, name: str) -> Array:
    """Products and sums of rows, one term after another."""
    kind = getattr(ml_dtypes, name, name)
    a = call.before[0]
    if call.operator.type in ("MatMul", "BatchMatMul"):
        a, b = (np.swapaxes(call.before[at], -1, -2) if call.before[at + 2] else call.before[at] for at in (0, 1))
        terms = [a[..., :, k, None] * b[..., k, None, :] for k in range(a.shape[-1])]
    else:
        axes = call.before[1] if isinstance(call.before[1], tuple) else (call.before[1],)
        axes = tuple(axis % a.ndim for axis in axes) or tuple(range(a.ndim))
        rest = [axis for axis in range(a.ndim) if axis not in axes]
        rows = np.transpose(a, (*axes, *rest)).reshape(-1, *(a.shape[axis] for axis in rest))
        terms = [np.expand_dims(row, axes) if call.before[2] else row for row in rows]
    total = np.asarray(terms[0]).astype(kind)
    for term in terms[1:]:
        total = (total + np.asarray(term).astype(kind)).astype(kind)
    return np.asarray(total.astype(dtypes.by_name(call.outputs[0]).numpy))


def _changed(told: Mapping[str, Any], golden: Watched, run: Watched, at: At, there: At) -> Call:
    call = golden.call(at)
    values: dict[int, Any] = {}
    for name in told.get("the run's", ()):
        slot = _slot(name)
        values[slot] = run.call(there).before[slot]
    for name, each in told.get("values", {}).items():
        values[_slot(name)] = _plain(each, call.before.get(_slot(name)))
    for name in told.get("inputs", ()):
        own = call.before[_slot(name)]
        if "rounded to" in told:
            values[_slot(name)] = _through(own, told["rounded to"])
        elif "of iteration" in told:
            values[_slot(name)] = golden.taken[told["of iteration"], at[1]][_slot(name)]
        else:
            values[_slot(name)] = _parameter(golden, told["parameter"], at[0])
    attributes = {
        name: ... if each == "(not there)" else _plain(each, call.operator.attributes.get(name))
        for name, each in told.get("attributes", {}).items()
    }
    changed = call.changed(values, attributes)
    operator = changed.operator
    if "type" in told:
        operator = Described(operator.name, told["type"], attributes=operator.attributes, inputs=operator.inputs)
    return Call(operator, changed.before, call.outputs, told.get("execution number", call.runs))


def _parameter(golden: Watched, name: str, iteration: int) -> Array:
    """A parameter's value during a step: what a launch reads."""
    for (step, operator), taken in golden.taken.items():
        for slot, edge in enumerate(golden.operators[operator].inputs):
            if step == iteration and edge.kind == "parameter" and edge.name == name and slot in taken:
                return taken[slot]
    return golden.kept[iteration - 1][name]


def _is_replayed(told: Mapping[str, Any], golden: Watched, run: Watched, origin: Mapping[str, Any]) -> bool:
    at = told["iteration"], told["operator"]
    there = at[0], origin["found_as"] or at[1]
    if "sums in" in told:
        return _sums(golden.call(at), told["sums in"]).tobytes() == run.outputs[there][0].tobytes()
    if not all(_is_replayed({**told, "or": (), **other}, golden, run, origin) for other in told.get("or", ())):
        return False
    made = Emulator().replay(_changed(told, golden, run, at, there))
    if made is None:
        return False
    outputs = [_through(e, told["rounded to"]) for e in made.outputs] if told.get("outputs too") else made.outputs
    shown = {slot: each for slot, each in run.outputs[there].items() if slot < len(outputs)}
    same = all(outputs[slot].tobytes() == each.tobytes() for slot, each in shown.items())
    return same and all(each.tobytes() == run.after[there][slot].tobytes() for slot, each in made.mutated.items()
                        if slot in run.after[there])  # fmt: skip


def _follows(told: Mapping[str, Any], golden: Watched, run: Watched) -> bool:
    """Whether the run's operators, applied to what the golden has, give what the run has."""
    names, known = told["the run's operators"], golden.contents()
    lead = told["iteration"]
    for name in names:
        at = lead, name
        made = Emulator().replay(run.call(at))
        if made is None or any(made.outputs[s].tobytes() != each.tobytes() for s, each in run.outputs[at].items()):
            return False
        own = {each.name for each in golden.operators.values()}
        for slot, edge in enumerate(run.operators[name].inputs):
            if edge.kind == "constant" or slot not in run.taken[at] or run.taken[at][slot].tobytes() in known:
                continue
            if not (edge.kind == "result" and edge.name in names) and edge.name in own | set(run.operators):
                return False
            if any(edge.name in kept and kept[edge.name].shape == run.taken[at][slot].shape
                   for kept in golden.kept.values()):  # fmt: skip
                return False
    return bool(names)


def _is_fact(told: Mapping[str, Any], golden: Watched, run: Watched) -> bool:
    if "is taken by" in told:
        step = told["iteration"]
        taken = run.taken[step, told["is taken by"]][_slot(told["as"])]
        return golden.taken[step, told["operator"]][_slot(told["its input"])].tobytes() == taken.tobytes()
    if "unchanged" in told:
        side = run if told["in"] == "run" else golden
        return all(len({kept[name].tobytes() for kept in side.kept.values()}) == 1 for name in told["unchanged"])
    if "exchanged" in told:
        one, other = told["exchanged"]
        sides = golden.kept[told["iteration"]], run.kept[told["iteration"]]
        return all(sides[0][a].tobytes() == sides[1][b].tobytes() for a, b in ((one, other), (other, one)))
    if "comes from" in told:
        at = told["iteration"], told["operator"]
        taken, name = run.taken[at][_slot(told["input"])], told["comes from"]
        made = [each for (step, each_name), slots in run.outputs.items() if (step, each_name) == (at[0], name)
                for each in slots.values()]  # fmt: skip
        made = made or [_parameter(run, name, at[0])]
        return any(each.tobytes() == taken.tobytes() for each in made)
    if "renamed" in told:
        one, other = told["renamed"]
        return one in golden.operators and other in run.operators
    iterations = {step for step, _ in golden.outputs}, {step for step, _ in run.outputs}
    return (sorted(iterations[0]), sorted(iterations[1])) == (told["golden"], told["run"])


def holds(told: Mapping[str, Any], golden: Watched, run: Watched) -> bool:
    """Whether a proven explanation, as JSON, gives the run's bits."""
    cause, origin = told["cause"], told["origin"]
    check = cause["check"]
    arguments = check["arguments"]
    if check["transformation"] == "replay":
        replays = _follows if "the run's operators" in arguments else None
        return replays(arguments, golden, run) if replays else _is_replayed(arguments, golden, run, origin)
    if check["transformation"] == "fact":
        return _is_fact(arguments, golden, run)
    step, name = origin["slot"][2], origin["operator"]
    at, there, slot = (step, name), (step, origin["found_as"] or name), _slot(cause["slot"])
    inputs = {f"input.{number}": each for number, each in golden.taken[at].items()}
    if check["transformation"] == "take output":
        return golden.outputs[arguments["iteration"], name][slot].tobytes() == run.outputs[there][slot].tobytes()
    if "input" in arguments:
        arguments = {**arguments, "input": arguments["input"].partition(" ")[0]}
    made = given({**check, "arguments": arguments}, golden.outputs[at][slot], inputs)
    return made.tobytes() == run.outputs[there][slot].tobytes()


def outcomes(count: int, seed: int) -> Iterator[tuple[Fault, dict[str, Any] | None, bool | None]]:
    """Faults with their explanations, and whether what is called proven holds; None where nothing is."""
    for fault in faults(count, seed):
        explanation = judged(fault).explanation
        told = json.loads(json.dumps(explanation.to_json(), allow_nan=False)) if explanation is not None else None
        if told is None or told["cause"] is None or not told["cause"]["proven"]:
            yield fault, told, None
            continue
        strike = fault.pair.strike
        sides = watched(fault.network), watched(fault.pair.changed, strike.fresh() if strike is not None else None)
        yield fault, told, holds(told, *sides)


def main(count: int, seed: int) -> int:
    """Prints what does not hold; 1 if anything does not."""
    counts: Counter[str] = Counter()
    for fault, told, held in outcomes(count, seed):
        counts["not proven" if held is None else "holds" if held else "DOES NOT HOLD"] += 1
        if held is False:
            print(fault.number, fault.kind, json.dumps(told)[:1500])
    print(dict(counts))
    return int(counts["DOES NOT HOLD"] > 0)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2])))
