"""Expressions of Python's floats in a graph, and what MindSpore 2.10.0 makes of them: ``python make.py SEED COUNT``.

Under the real MindSpore it writes ``floats.json`` beside itself: each expression and its result, floats as
``float.hex`` writes them; ``expressions`` draws them, here and there.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: what the names of an expression hold; ``step`` is a local of the function
ATTRIBUTES = {"rate": 0.999, "small": 1e-3, "count": 3, "pair": (0.9, 2)}
LEAVES = ("self.rate", "self.small", "self.count", "self.pair[0]", "self.pair[1]", "step", "scale", "half")
SIGNS = ("+", "-", "*", "/", "//", "%", "**")


def expressions(seed: int, count: int) -> Iterator[str]:
    """Expressions over ``LEAVES`` and numbers."""
    draw = random.Random(seed)

    def grown(depth: int) -> str:
        kind = draw.random()
        if depth == 0 or kind < 0.15:
            number = round(draw.uniform(-4, 4), draw.choice((1, 3, 7)))
            return draw.choice((*LEAVES, repr(abs(number)), str(draw.randint(1, 9)), f"({number})"))
        if kind < 0.22:
            return f"(-{grown(depth - 1)})"
        if kind < 0.3:
            return f"{draw.choice(('abs', 'float'))}({grown(depth - 1)})"
        if kind < 0.38:
            return f"{draw.choice(('min', 'max'))}({grown(depth - 1)}, {grown(depth - 1)})"
        if kind < 0.45:
            return f"({grown(depth - 1)} if {grown(depth - 1)} > {grown(depth - 1)} else {grown(depth - 1)})"
        sign = draw.choice(SIGNS)
        right = str(draw.randint(1, 3)) if sign == "**" else grown(depth - 1)
        left = f"abs({grown(depth - 1)})" if sign == "**" else grown(depth - 1)
        return f"({left} {sign} {right})"

    while count:
        made = grown(draw.randint(1, 4))
        if any(sign in made for sign in SIGNS):
            count -= 1
            yield made


def construct(expression: str) -> Callable[..., Any]:
    """A ``construct`` that gives the expression; it lies in a file of its own, whose source can be read."""
    text = (
        f"def construct(self, x, scale=0.3):\n    step = 0.1\n    half = 1\n    half /= 3\n    return x, {expression}\n"
    )
    folder = Path(construct.folder)  # type: ignore[attr-defined]
    path = folder / f"f{len(list(folder.iterdir()))}.py"
    path.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, str(path), "exec"), names)
    function: Callable[..., Any] = names["construct"]
    return function


def value(ms: Any, expression: str) -> Any:
    """What a graph gives for the expression: hexadecimal for a float, the value for the rest, ``error`` for none."""
    made = construct(expression)
    cell = type("Net", (ms.nn.Cell,), {**ATTRIBUTES, "construct": made})()
    try:
        found = cell(ms.Tensor([1.0], ms.float32))[1]
    except (ArithmeticError, RuntimeError, TypeError, ValueError):
        return "error"
    return found.hex() if isinstance(found, float) else found


if __name__ == "__main__":
    import tempfile

    import mindspore

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    construct.folder = tempfile.mkdtemp()  # type: ignore[attr-defined]
    told = {each: value(mindspore, each) for each in expressions(int(sys.argv[1]), int(sys.argv[2]))}
    Path(__file__).with_name("floats.json").write_text(json.dumps(told, indent=0) + "\n", encoding="utf-8")
