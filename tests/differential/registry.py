"""Forms drawn from the public names themselves: functions of ``ops`` and ``mint``, operators, methods and layers.

A name is called here, at once, with a tensor of the shape at hand in one of a few ways; the first way that makes a
tensor, the same each time, is a form. So every name that is added to the project is drawn, without a table.
"""

from __future__ import annotations

import random
import re
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

import harness as ms
from harness import Parameter, Tensor, mint, nn, ops
from harness.framework.names import members
from tests.differential.forms import filled
from tests.differential.program import Shape

#: ways to call what takes tensors, {f} the name
CALLS = ("{f}({0})", "{f}({0}, {1})", "{f}({0}, -1)", "{f}({0}, 0)", "{f}({0}, 1)", "{f}({0}, 2.0)", "{f}(({0}, {1}))")
METHODS = ("{0}.{f}()", "{0}.{f}({1})", "{0}.{f}(-1)", "{0}.{f}(0)", "{0}.{f}(2.0)")
#: ways to make a layer or an operator
MAKES = ("{f}()", "{f}({n})", "{f}({h})", "{f}(({n},))", "{f}(2)", "{f}({n}, {n})")
#: what gives something else each time, changes its tensor, or is no computation
LEFT_OUT = re.compile(r"rand|drop|bernoulli|normal$|uniform|multinomial|gumbel|shuffle|poisson|gamma|beta|seed|empty|_$"
                      r"|hook|^set_|assign|offload|^init|from_|^as|print|dump|save|load|item|^to|pickle|data|^_"
                      r"|Print|Summary|Custom|Assert|Send|Recv|All|Reduce.*Scatter|Broadcast$|mutable|^mish$|Mish"
                      r"|cond|while|grad|Grad|vjp|jvp|vmap|jac|function|deepcopy|contiguous|new_|Loss"
                      r"|move|[Nn]on_?[Zz]ero|argwhere|unique|Unique|masked_select|MaskedSelect|^Tensor$")  # fmt: skip
_SPACE = {"ms": ms, "ops": ops, "mint": mint, "nn": nn, "np": np, "Tensor": Tensor, "Parameter": Parameter}


class Drawn(NamedTuple):
    """A form of one shape: its expression, what ``__init__`` makes for it (or nothing), the shape it gives."""

    text: str
    made: str
    shape: Shape


@cache
def _names(module: str) -> tuple[str, ...]:
    owner = {"ops": ops, "mint": mint, "nn": nn, "Tensor": Tensor}[module]
    found = []
    for name in members("Tensor:" if module == "Tensor" else module):
        value = getattr(owner, name, None) if not LEFT_OUT.search(name) else None
        if callable(value):
            found.append(name)
    return tuple(sorted(found))


def draw(chooser: random.Random, shape: Shape) -> Drawn | None:
    """A form of a tensor of ``shape``; None if none of a few names gives one."""
    for _ in range(12):
        module = chooser.choice(("ops", "ops", "Tensor", "nn", "mint"))
        name = chooser.choice(_names(module))
        ways = list(METHODS if module == "Tensor" else CALLS)
        ways = ways[:2] + chooser.sample(ways[2:], len(ways) - 2)
        if module == "nn" or (module == "ops" and name[0].isupper()):
            for made in MAKES:
                source = filled(made.replace("{f}", f"{module}.{name}"), shape)
                for way in ways[:2]:
                    found = _tried(way.replace("{f}", "self.{c}"), source, shape)
                    if found is not None:
                        return found
            continue
        for way in ways:
            text = way.replace("{f}", name if module == "Tensor" else f"{module}.{name}")
            found = _tried(text, "", shape)
            if found is not None:
                return found
    return None


def _tried(text: str, made: str, shape: Shape) -> Drawn | None:
    given = [np.random.RandomState(at).randn(*shape).astype(np.float32) for at in (1, 2)]
    results = []
    for _ in range(2):
        tensors = [Tensor(each.copy()) for each in given]
        try:
            space = {**_SPACE, "a": tensors[0], "b": tensors[1]}
            if made:
                ms.set_seed(1)
                space["made"] = eval(made, space)
            source = text.replace("self.{c}", "made").replace("{0}", "a").replace("{1}", "b")
            result: Any = eval(source, space)
        except Exception:
            return None
        if any(t.asnumpy().tobytes() != each.tobytes() for t, each in zip(tensors, given, strict=True)):
            return None
        results.append(result)
    is_first = isinstance(results[0], (tuple, list)) and len(results[0]) > 0
    values = [each[0] if is_first else each for each in results]
    if not all(isinstance(each, Tensor) for each in values):
        return None
    arrays = [each.asnumpy() for each in values]
    if not _is_usable(arrays[0]) or arrays[0].tobytes() != arrays[1].tobytes():
        return None
    text = f"{text}[0]" if is_first else text
    return Drawn(text if arrays[0].dtype == np.float32 else f"{text}.astype(ms.float32)", made, arrays[0].shape)


def _is_usable(array: np.ndarray[Any, Any]) -> bool:
    if array.dtype.kind not in "fiub" or not 0 < array.ndim <= 4 or not 0 < prod(array.shape) <= 600:
        return False
    return bool(np.isfinite(array.astype(np.float64)).all()) and float(np.abs(array.astype(np.float64)).max()) < 1e3
