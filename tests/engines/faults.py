"""Faults drawn in three engines, and what is said of them.

``python -m tests.engines.faults [--count N] [--seed S] [--engine E]`` prints the rates and each case that is not right.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.backends import RecordedBackend
from harness.capture import Capture
from harness.compare import check
from harness.explain import Explanation, block, explain, side_of
from tests.engines.drawn import KINDS, Fault, Network, fault, network
from tests.engines.page import ENGINES, module, recorded


@dataclass(frozen=True)
class Case:
    """A fault, and what is said of it.

    Attributes:
        said: the explanation; None if the run agrees with the golden.
        alone: the same where outputs alone are recorded.
    """

    engine: str
    seed: int
    fault: Fault
    said: Explanation | None
    alone: Explanation | None

    def right(self, said: Explanation | None) -> bool:
        """Whether the first divergence is at the fault's node; an order's is that one of two nodes moved."""
        if said is None or said.origin is None or (said.origin.what == "moved") != (self.fault.kind == "order"):
            return False
        names = (said.origin.operator, said.origin.found_as or said.origin.operator)
        return any(f"/{node}/" in name for name in names for node in self.fault.nodes)

    def false(self, said: Explanation | None) -> bool:
        """Whether a cause is said that is not the fault's."""
        return said is not None and said.cause is not None and not self.holds(said, said.cause.text)

    def holds(self, said: Explanation, text: str) -> bool:
        """Whether a cause names what was changed. A node of these networks is several operators of JAX's, which come
        and go with it; of a long name a cause shows the end."""
        if self.fault.kind == "order" and text.startswith("moved: ") and said.origin is not None:
            return self.right(said) and said.origin.operator.endswith(text.split()[1])
        if self.engine == "jax" and text.startswith(("replaced: ", "removed: ", "inserted: ")):
            return self.fault.kind == "operator" or self.fault.words[-1][0] == "transB"
        return any(all(word in text for word in words) for words in self.fault.words)

    def cannot_tell(self) -> bool:
        """Whether outputs alone lead to no origin."""
        return self.alone is None or self.alone.origin is None or "cannot tell" in block(self.alone)


def captured(engine: str, drawn: Network) -> Capture:
    """A run of a network."""
    if engine == "jax":
        net = recorded(engine)(drawn.function(), drawn.x, drawn.weights)
        return RecordedBackend(engine).run(lambda: net(drawn.x, drawn.weights), network="drawn")
    net = recorded(engine)(drawn.model())
    return RecordedBackend(engine).run(lambda: net.run({"x": drawn.x}), network="drawn")


def outputs_of(capture: Capture) -> Capture:
    """The same with outputs alone."""
    from dataclasses import replace

    return replace(capture, source=[record for record in capture.records() if record.key.io == "output"])


def told(expected: Capture, found: Capture) -> Explanation | None:
    """What is said of a run; None if it agrees."""
    compared = check(expected, found, {"*": {"rtol": 1e-5, "atol": 1e-6}})
    if compared.holds:
        return None
    return explain(compared, side_of(expected), side_of(found), "the run differs")


def shows(engine: str, one: Fault, base: Network, expected: Capture, found: Capture) -> bool:
    """Whether the node itself gives something else, clearly: else there is nothing to find."""
    if one.kind == "order":
        return True
    mine = [
        each.load()
        for each in expected.records()
        if f"/{one.nodes[0]}/" in each.key.operator and each.key.io == "output"
    ]
    theirs = [
        each.load() for each in found.records() if f"/{one.nodes[0]}/" in each.key.operator and each.key.io == "output"
    ]
    if any(not np.isfinite(each).all() for each in (*mine, *theirs) if each.dtype.kind == "f"):
        return False
    if len(mine) != len(theirs):
        return not np.allclose(mine[-1], theirs[-1], rtol=1e-3, atol=1e-3)
    return any(
        a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(mine, theirs, strict=True)
    )


def case(engine: str, seed: int, kind: str) -> Case | None:
    """The case of a seed; None if it has no such fault, or one that shows nowhere."""
    one = fault(seed, kind)
    if one is None:
        return None
    with np.errstate(all="ignore"):
        base = network(seed)
        expected, found = captured(engine, base), captured(engine, one.network)
        if not shows(engine, one, base, expected, found):
            return None
        return Case(engine, seed, one, told(expected, found), told(outputs_of(expected), outputs_of(found)))


def cases(engine: str, count: int, seed: int) -> list[Case]:
    """``count`` cases, their kinds in turn."""
    module("onnx_replayer")
    found: list[Case] = []
    draw = random.Random(f"{engine} {seed}")
    while len(found) < count:
        made = case(engine, draw.randrange(1 << 30), KINDS[len(found) % len(KINDS)])
        if made is not None:
            found.append(made)
    return found


def main() -> None:
    """Prints the rates, and what was not right."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--engine", choices=ENGINES, action="append")
    parser.add_argument("--all", action="store_true", help="print what is said of every case")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    for engine in given.engine or ENGINES:
        counts: Counter[str] = Counter()
        for each in cases(engine, given.count, given.seed):
            counts["right"] += each.right(each.said)
            counts["false"] += each.false(each.said)
            counts["proven"] += bool(each.said and each.said.cause and each.said.cause.certainty.proven)
            counts["alone right or cannot tell"] += each.right(each.alone) or each.cannot_tell()
            wrong = not each.right(each.said) or each.false(each.said)
            if wrong or given.all:
                _print(each, each.said)
            if not (each.right(each.alone) or each.cannot_tell()):
                print("   with outputs alone:")
                _print(each, each.alone)
        print(engine, given.count, dict(counts))


def _print(each: Case, said: Any) -> None:
    print(f"-- {each.engine} {each.seed} {each.fault.kind} at {each.fault.nodes} {each.fault.words}")
    print("   agrees" if said is None else "\n".join(f"   {line}" for line in block(said).splitlines()))


if __name__ == "__main__":
    main()
