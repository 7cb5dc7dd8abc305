"""Faults of real kinds in models of torchvision, timm and transformers: is each seen, found at its place, told, proven?

A program, run by hand in an environment of its own (torch, torchvision, transformers; with ``--fresh`` timm, too)::

    python -m tests.interop.torch_faults --seed 7 --count 60

Each fault changes one call of a function of PyTorch's, one weight, or the training of a small random model. The first
place is right if it is the first operator at which both runs part, in the order they ran; causes are held against what
was planted; what is told as proven is applied again by this program, with PyTorch alone. Where nothing proves a cause,
the run is repeated with the golden's tensors. ``--extract`` writes the operator of each fault as a test of its own, and
runs it where this project is not on the path.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from harness.capture.torch import TorchCapture
from harness.capture.torch.grafting import Grafts
from harness.compare.policy import Judgement, Party, judge
from harness.errors import HarnessError
from harness.explain import Evidence, Explanation, Subject, explained, grafting, settle
from harness.explain.extracting import extract
from harness.records import Record
from tests.interop.torch_kinds import (
    KINDS,
    LOOPS,
    MORE_KINDS,
    MORE_TRAININGS,
    TRAININGS,
    WEIGHTS,
    Kind,
)
from tests.interop.torch_models import MODELS, fresh_models, loss_of

HERE = {"torch": "here"}
STEPS = 2
_ROUNDS = 4
Again = Callable[[Mapping[Any, Any]], list[Record]]


@dataclass(frozen=True)
class Drawn:
    """A fault in a model.

    Attributes:
        label: its kind.
        words: what the cause has to say, any of these.
        golden, run: the records of both runs.
        again: runs again with tensors of the golden.
    """

    label: str
    words: tuple[str, ...]
    golden: list[Record]
    run: list[Record]
    again: Again


class Planted(TorchFunctionMode):
    """Makes one call wrong; counts the calls that could be."""

    def __init__(self, kind: Kind, target: int) -> None:
        super().__init__()
        self.kind, self.target, self.seen, self.done = kind, target, 0, False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.done or getattr(function, "__name__", "") not in self.kind.functions:
            return function(*args, **(kwargs or {}))
        self.seen += 1
        if self.seen - 1 < self.target:
            return function(*args, **(kwargs or {}))
        made = self.kind.wrong(function, args, kwargs or {})
        if made is NotImplemented:
            return function(*args, **(kwargs or {}))
        self.done = True
        return made


@dataclass(frozen=True)
class Way:
    """How a model runs.

    Attributes:
        train: a training instead of an evaluation.
        kind, target: a fault in a call, and in which of those that could have it; None: in none.
        weight: changes the model first.
        optimize: changes the optimizer first.
        loop: what is wrong with the training's loop.
    """

    train: bool = False
    kind: Kind | None = None
    target: int = 10**9
    weight: Callable[[Any], None] | None = None
    optimize: Callable[[Any], None] | None = None
    loop: str = ""


def captured(
    make: Callable[[], Any], way: Way, grafts: Mapping[Any, Any] | None = None
) -> tuple[list[Record], Planted]:
    """The records of one evaluation or of a training's steps, and what was planted."""
    torch.manual_seed(0)
    model, inputs = make()
    model.train(way.train)
    if way.weight is not None:
        with torch.no_grad():
            way.weight(model)
    torch.use_deterministic_algorithms(True, warn_only=True)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2) if way.train else None
    if way.optimize is not None:
        way.optimize(optimizer)
    watch = TorchCapture(model, paths=True, gradients=True, grafts=Grafts(grafts) if grafts else None)
    # Under a function mode modules take other paths than without: the golden has one, too.
    plant = Planted(way.kind or KINDS[0], way.target)
    torch.manual_seed(1)
    for at in range(STEPS if way.train else 1):
        with plant, watch.step() as returned:
            if optimizer is None:
                with torch.no_grad():
                    model(*inputs)
            else:
                _train(model, optimizer, inputs, way.loop, at, returned)
    return list(watch.capture().records()), plant


def _train(model: Any, optimizer: Any, inputs: Any, loop: str, at: int, returned: Any) -> None:
    if loop != "no zero_grad":
        optimizer.zero_grad()
    if loop == "order of batches":
        inputs = [each.flip(0) if isinstance(each, torch.Tensor) and each.dim() else each for each in inputs]
    loss = loss_of(model(*inputs), total=loop == "loss summed")
    returned(loss, "loss")
    loss.backward()
    if loop == "clipped":
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    if loop != "no step" or at == 0:
        optimizer.step()


def first_apart(one: list[Record], other: list[Record]) -> set[str]:
    """The operators at which both runs part, in the order they ran."""
    for a, b in zip(one, other, strict=False):
        same = (a.op_type, a.key.io, a.dtype, a.shape, a.digest) == (b.op_type, b.key.io, b.dtype, b.shape, b.digest)
        if not same:
            return {a.key.operator, b.key.operator}
    return set()


def plant(rng: random.Random, make: Callable[[], Any], more: bool) -> Iterator[Drawn]:
    """Faults in a model: each kind that it can have, in drawn order.

    Args:
        more: of all kinds; else of those that causes were built on.
    """
    goldens: dict[bool, list[Record]] = {}

    def drawn(label: str, words: tuple[str, ...], way: Way) -> Drawn:
        if way.train not in goldens:
            goldens[way.train] = captured(make, Way(way.train))[0]
        run = captured(make, way)[0]
        return Drawn(label, words, goldens[way.train], run, lambda values: captured(make, way, values)[0])

    kinds: list[Any] = [*KINDS, *MORE_KINDS] if more else [*KINDS]
    trainings = {**TRAININGS, **MORE_TRAININGS} if more else TRAININGS
    kinds += [("optimizer", name) for name in rng.sample(sorted(trainings), 2)]
    kinds += [("weight", name) for name in rng.sample(sorted(WEIGHTS), 1)]
    kinds += [("loop", name) for name in rng.sample(sorted(LOOPS), 2)] if more else []
    rng.shuffle(kinds)
    for kind in kinds:
        if not isinstance(kind, Kind):
            where, name = kind
            if where == "loop":
                yield drawn(name, LOOPS[name], Way(True, loop=name))
            elif where == "optimizer":
                yield drawn(name, trainings[name][1], Way(True, optimize=trainings[name][0]))
            else:
                yield drawn(name, ("parameter", "differs", "->", "at ["), Way(weight=WEIGHTS[name](rng)))
            continue
        train = rng.random() < 0.5 or kind.name in ("momentum", "detached", "dropout left out")
        train = train and kind.name != "dropout left on"
        seen = captured(make, Way(train, kind))[1].seen
        if not seen:
            continue
        way = Way(train, kind, rng.randrange(max(1, seen // (STEPS if train else 1))))
        try:
            done = captured(make, way)[1].done
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
        if done:
            yield drawn(kind.name, kind.words, way)


def reapplied(cause: Any, origin: Any, one: list[Record], other: list[Record]) -> bool | None:
    """Whether a proven replay, done by PyTorch alone, gives the run's bits; None if it is not one of arguments."""
    check = cause.check
    if check is None or check.transformation != "replay" or not cause.changes or cause.kind != "attribute":
        return None
    where = origin.key[:5]
    golden = {r.key.slot: r for r in one if r.key[:5] == where and r.key.io == "input"}
    names = [each.name.rpartition("'s ")[2] for each in cause.changes]
    found_as = origin.found_as or where[3]
    run = [r for r in other if (*r.key[:3], r.key.operator) == (*where[:3], found_as)]
    tensors = [torch.from_numpy(np.array(r.load())) for r in golden.values() if r.format != "argument"]
    given = [r for r in run if r.format == "argument" and r.extra.named not in (None, "settings")]
    plain = {r.extra.named: r.load().item() for r in given if np.ndim(r.load()) == 0}
    wanted = [r.load() for r in run if r.key.io == "output"]
    packet = getattr(torch.ops.aten, next(iter(golden.values())).op_type, None)
    if packet is None or not set(names) <= set(plain) or len(wanted) != 1:
        return None
    try:
        made = packet(*tensors, **plain)
    except (RuntimeError, TypeError):
        return None
    return bool(isinstance(made, torch.Tensor) and made.numpy().tobytes() == wanted[0].tobytes())


def judged_and_told(one: list[Record], other: list[Record]) -> tuple[Judgement, Explanation | None]:
    """The judgement and the explanation as the gate gives them."""
    sides = (
        Party(one, "torch", stored=True, environment=lambda: HERE, repeated=lambda: True),
        Party(other, "torch", stored=True, environment=lambda: HERE),
    )
    judged = judge(*sides, lay=lambda _one, _other: None, settle=settle)
    evidence = Evidence(lambda: one, dict, "torch"), Evidence(lambda: other, dict, "torch")
    return judged, explained(judged, Subject("run", "golden"), *evidence)


def grafted(drawn: Drawn, judged: Judgement, told: Explanation) -> Explanation:
    """The explanation after runs with the golden's tensors."""
    golden = Evidence(lambda: drawn.golden, dict, "torch")
    grafts, left = grafting.proposed(judged.comparison), None
    for _ in range(_ROUNDS):
        values = grafts.values(golden) if grafts is not None else None
        if grafts is None or values is None:
            return told
        left = grafting.rest(judged_and_told(drawn.golden, drawn.again(values))[0], grafts)
        if left is None:
            return grafting.proven(told, grafts)
        more = grafting.further(left, grafts)
        if more is None:
            break
        grafts = more
    return grafting.refuted(told, grafts, left) if left is not None else told


def extracted(drawn: Drawn, told: Explanation) -> tuple[bool, bool] | str:
    """Whether the sides golden and run of the extracted test pass where this project is not; why there is none."""
    sides = Evidence(lambda: drawn.golden, dict, "torch"), Evidence(lambda: drawn.run, dict, "torch")
    try:
        made = extract(told, *sides, "test_it.npz")
    except HarnessError as error:
        return str(error)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_it.py").write_text(made.text)
        if made.arrays:
            np.savez(Path(folder, "test_it.npz"), **made.arrays)
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "test_it.py"],
            cwd=folder, env=variables, capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = ended.stdout.splitlines()
    passed = [any(line.startswith("PASSED") and f"[{side}]" in line for line in lines) for side in ("golden", "run")]
    return passed[0], passed[1]


def count(drawn: Drawn, seen: Counter[str], extracting: bool) -> str:
    """Counts a fault; gives what is not as it should be."""
    truth = first_apart(drawn.golden, drawn.run)
    if not truth:
        return ""  # it changed nothing
    seen["faults"] += 1
    judged, told = judged_and_told(drawn.golden, drawn.run)
    if told is None:
        return "PASSED"
    seen["seen"] += 1
    by_replay = told.cause
    if grafting.lacks_proof(told):
        told = grafted(drawn, judged, told)
    origin, cause = told.origin, told.cause
    at = {origin.operator, origin.found_as} if origin is not None else set()
    placed = bool(at & truth)
    stated = [each.text for each in (by_replay, cause) if each is not None]
    right = any(word in text for word in drawn.words for text in stated)
    proven = cause is not None and cause.certainty.proven
    seen["place"] += placed
    seen["cause"] += right
    seen["proven"] += proven
    seen["by graft"] += cause is not None and cause.kind == grafting.KIND
    if proven and cause is not None and (again := reapplied(cause, origin, drawn.golden, drawn.run)) is not None:
        seen["applied again"] += 1
        seen["false"] += not again
    outcome: Any = extracted(drawn, told) if extracting else (True, False)
    if extracting:
        seen["extracted"] += isinstance(outcome, tuple)
        seen["as they should"] += outcome == (True, False)
    if placed and right and proven and outcome == (True, False):
        return ""
    text = "no cause" if cause is None else f"{cause.certainty.value}: {cause.text}"
    before = f" [{by_replay.text}]" if by_replay is not None and by_replay is not cause else ""
    place = "" if placed else f"; at {sorted(filter(None, at))}, in truth at {sorted(truth)}"
    lines = "".join(f"; {each}" for each in told.others[:1]) if not proven else ""
    test = "" if outcome == (True, False) else f"; test: {outcome}"
    return f"{text}{before}{place}{lines}{test}"


def main() -> int:
    """Draws faults, prints a line for each that is not told as it should be, and the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--most", type=int, default=10**9, help="faults in one model")
    parser.add_argument("--models", default="")
    parser.add_argument("--fresh", action="store_true", help="models and kinds that no cause was built on, too")
    parser.add_argument("--extract", action="store_true", help="also as tests of their own")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    every = fresh_models() if asked.fresh else MODELS
    names = asked.models.split(",") if asked.models else rng.sample(sorted(every), len(every))
    seen: Counter[str] = Counter()
    for name in names:
        before = seen["faults"]
        try:
            for drawn in plant(rng, every[name], asked.fresh):
                told = count(drawn, seen, asked.extract)
                if told:
                    print(f"{name}: {drawn.label}: {told}", flush=True)
                if seen["faults"] >= asked.count or seen["faults"] - before >= asked.most:
                    break
        except ValueError as error:
            if str(error) != "too large":
                raise
            continue
        seen["models"] += 1
        if seen["faults"] >= asked.count:
            break
    print(dict(seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
