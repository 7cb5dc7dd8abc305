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

from harness.capture import Capture
from harness.capture.torch import TorchCapture
from harness.capture.torch.grafting import Grafts
from harness.errors import HarnessError
from harness.explain import Certainty, Explanation, grafting, side_of
from harness.explain.extracting import extract
from harness.records import Record
from harness.store import StoredRun
from tests.interop.torch_gate import Again, grafted, judged_and_told, stored
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

STEPS = 2


@dataclass(frozen=True)
class Drawn:
    """A fault in a model.

    Attributes:
        label: its kind.
        words: what the cause has to say, any of these.
        golden, run: both runs.
        again: runs again with tensors of the golden.
    """

    label: str
    words: tuple[str, ...]
    golden: StoredRun
    run: Capture
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


def captured(make: Callable[[], Any], way: Way, grafts: Mapping[Any, Any] | None = None) -> tuple[Capture, Planted]:
    """One evaluation or of a training's steps, and what was planted."""
    torch.manual_seed(0)
    model, inputs = make()
    model.train(way.train)
    if way.weight is not None:
        with torch.no_grad():
            way.weight(model)
    torch.use_deterministic_algorithms(True, warn_only=True)
    trained = [*model.parameters()]
    if way.loop == "parameter frozen":
        trained[len(trained) // 2].requires_grad_(False)
    if way.loop == "parameter left out":
        del trained[len(trained) // 2]
    optimizer = torch.optim.AdamW(trained, 1e-2) if way.train else None
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5) if way.loop == "scheduled" else None
    if way.optimize is not None:
        way.optimize(optimizer)
    watch = TorchCapture(model, paths=True, gradients=True, grafts=Grafts(grafts) if grafts else None)
    # Under a function mode modules take other paths than without: the golden has one, too.
    plant = Planted(way.kind or KINDS[0], way.target)
    torch.manual_seed(2 if way.loop == "other seed" else 1)
    for at in range(STEPS if way.train else 1):
        with plant, watch.step() as returned:
            if optimizer is None:
                with torch.no_grad():
                    model(*inputs)
            else:
                _train(model, optimizer, inputs, way.loop, at, returned)
                if scheduler is not None:
                    scheduler.step()
    return watch.capture(), plant


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
    """The operators at which both runs part, in the order they ran; and on each side the first that the other lacks,
    with its tensors: views of equal tensors may run in another order."""
    found: set[str] = set()
    for a, b in zip(one, other, strict=False):
        same = (a.op_type, a.key.io, a.dtype, a.shape, a.digest) == (b.op_type, b.key.io, b.dtype, b.shape, b.digest)
        if not same:
            found = {a.key.operator, b.key.operator}
            break
    sides = operators_of(one), operators_of(other)
    for mine, others in (sides, sides[::-1]):
        known = set(others.values())
        lone = next((where for where, content in mine.items() if content not in known), None)
        found |= {lone[3]} if lone is not None and found else set()
    return found


def operators_of(records: list[Record]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What each operator took and gave, in the order they ran."""
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for each in records:
        content = each.key.iteration, each.op_type, each.key.io, each.shape, each.digest
        found[each.key[:5]] = (*found.get(each.key[:5], ()), content)
    return found


def plant(rng: random.Random, make: Callable[[], Any], more: bool) -> Iterator[Drawn]:
    """Faults in a model: each kind that it can have, in drawn order.

    Args:
        more: of all kinds; else of those that causes were built on.
    """
    goldens: dict[bool, StoredRun] = {}

    def drawn(label: str, words: tuple[str, ...], way: Way) -> Drawn | None:
        try:
            run, planted = captured(make, way)
        except (RuntimeError, TypeError, ValueError, IndexError):
            if way.kind is None:
                raise
            return None  # the model does not take it
        if way.kind is not None and not planted.done:
            return None
        if way.train not in goldens:
            goldens[way.train] = stored(captured(make, Way(way.train))[0])
        return Drawn(label, words, goldens[way.train], run, lambda values: captured(make, way, values)[0])

    kinds: list[Any] = [*KINDS, *MORE_KINDS] if more else [*KINDS]
    trainings = {**TRAININGS, **MORE_TRAININGS} if more else TRAININGS
    kinds += [("optimizer", name) for name in rng.sample(sorted(trainings), 2)]
    kinds += [("weight", name) for name in rng.sample(sorted(WEIGHTS), 1)]
    kinds += [("loop", name) for name in rng.sample(sorted(LOOPS), 2)] if more else []
    rng.shuffle(kinds)
    calls = {train: called(make, train) for train in (False, True)}
    for kind in kinds:
        if isinstance(kind, Kind):
            train = rng.random() < 0.5 or kind.name in ("momentum", "detached", "dropout left out")
            train = train and kind.name != "dropout left on"
            seen = sum(calls[train][name] for name in kind.functions)
            if seen == 0:
                continue
            made = drawn(kind.name, kind.words, Way(train, kind, rng.randrange(seen)))
        elif kind[0] == "loop":
            made = drawn(kind[1], LOOPS[kind[1]], Way(True, loop=kind[1]))
        elif kind[0] == "optimizer":
            change, words = trainings[kind[1]]
            made = drawn(kind[1], words, Way(True, optimize=change))
        else:
            made = drawn(kind[1], ("parameter", "differs", "->", "at ["), Way(weight=WEIGHTS[kind[1]](rng)))
        if made is not None:
            yield made


class Calls(TorchFunctionMode):
    """Counts calls by the functions' names."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.counts[getattr(function, "__name__", "")] += 1
        return function(*args, **(kwargs or {}))


def called(make: Callable[[], Any], train: bool) -> Counter[str]:
    """The functions that one forward calls, by name."""
    torch.manual_seed(0)
    model, inputs = make()
    with torch.no_grad(), Calls() as calls:
        model.train(train)(*inputs)
    return calls.counts


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


def extracted(drawn: Drawn, told: Explanation, path: Path) -> str:
    """Writes the operator of a fault as a test of its own; gives why there is none, else nothing."""
    try:
        made = extract(told, side_of(drawn.golden), side_of(drawn.run), path.with_suffix(".npz").name)
    except HarnessError as error:
        return str(error)
    path.write_text(made.text)
    if made.arrays:
        np.savez(path.with_suffix(".npz"), **made.arrays)
    return ""


def run_extracted(folder: Path, seen: Counter[str]) -> None:
    """Runs the tests where this project is not: the side golden passes, the side run fails."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider", "."]
    ended = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    found: dict[str, set[str]] = {}
    for line in ended.stdout.splitlines():
        state, _, name = line.partition(" ")
        if state in ("PASSED", "FAILED") and "[" in name:
            found.setdefault(name.partition("::")[0], set()).add(f"{state} {name.partition('[')[2].partition(']')[0]}")
    for path in sorted(folder.glob("test_*.py")):
        right = found.get(path.name) == {"PASSED golden", "FAILED run"}
        seen["tests as they should"] += right
        if not right:
            print(f"{path.name}: {sorted(found.get(path.name, ()))}", flush=True)


def count(drawn: Drawn, seen: Counter[str], folder: Path | None) -> str:
    """Counts a fault; gives what is not as it should be."""
    sides = list(drawn.golden.records()), list(drawn.run.records())
    truth = first_apart(*sides)
    if not truth:
        return ""  # it changed nothing
    seen["faults"] += 1
    judged, told = judged_and_told(drawn.golden, drawn.run)
    if told is None:
        return "PASSED"
    seen["seen"] += 1
    by_replay = told.cause
    if grafting.lacks_proof(told):
        told = grafted(drawn.golden, drawn.again, judged, told)
    origin, cause = told.origin, told.cause
    at = {origin.operator, origin.found_as} if origin is not None else set()
    placed = bool(at & truth)
    stated = [each.text for each in (by_replay, cause) if each is not None]
    right = any(word in text for word in drawn.words for text in stated)
    proven = cause is not None and cause.certainty.proven
    seen["place"] += placed
    seen["cause"] += right
    seen["proven"] += proven
    seen["by graft"] += cause is not None and cause.certainty is Certainty.GRAFT
    if proven and cause is not None and (again := reapplied(cause, origin, *sides)) is not None:
        seen["applied again"] += 1
        seen["false"] += not again
    why = extracted(drawn, told, folder / f"test_{seen['faults']}.py") if folder is not None else ""
    seen["extracted"] += folder is not None and not why
    if placed and right and proven and not why:
        return ""
    text = "no cause" if cause is None else f"{cause.certainty.value}: {cause.text}"
    before = f" [{by_replay.text}]" if by_replay is not None and by_replay is not cause else ""
    place = "" if placed else f"; at {sorted(filter(None, at))}, in truth at {sorted(truth)}"
    lines = "".join(f"; {each}" for each in told.others[:1]) if not proven else ""
    return f"{text}{before}{place}{lines}{f'; {why}' if why else ''}"


def main() -> int:
    """Draws faults, prints a line for each that is not told as it should be, and the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--most", type=int, default=10**9, help="faults in one model")
    parser.add_argument("--models", default="")
    parser.add_argument("--parameters", type=int, default=3_000_000, help="of a fresh model, at most")
    parser.add_argument("--fresh", action="store_true", help="models and kinds that no cause was built on, too")
    parser.add_argument("--extract", action="store_true", help="also as tests of their own")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    every = fresh_models(asked.parameters) if asked.fresh else MODELS
    names = asked.models.split(",") if asked.models else rng.sample(sorted(every), len(every))
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        _draw(rng, every, names, asked, seen, Path(folder) if asked.extract else None)
        if asked.extract:
            run_extracted(Path(folder), seen)
    print(dict(seen))
    return 0


def _draw(rng: random.Random, every: Any, names: Any, asked: Any, seen: Counter[str], folder: Path | None) -> None:
    for name in names:
        before = seen["faults"]
        try:
            for drawn in plant(rng, every[name], asked.fresh):
                told = count(drawn, seen, folder)
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


if __name__ == "__main__":
    sys.exit(main())
