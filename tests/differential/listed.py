"""Differences that ``docs/differences.md`` lists, each known by what only it shows."""

from __future__ import annotations

import re
from collections import Counter

#: an operator whose gradient over all elements looks at values to choose a branch
_CHOOSES = re.compile(r"Gradients/(?:.*/)?Grad_(?:Max|Min|ProdExt)/(?:Not)?Equal-op\d+$")

#: of values that ``moved.py`` shows to be decided by rounding
ROUNDING = "rounding decides: results of kernels moved by a unit in the last place move the value as far"

#: of an argument of a graph
VIEW = "the file of an argument that is a view has the bytes of the whole tensor"
#: of the input of an optimizer
TURNED = "the dump of a gradient of a transposed weight holds its values in the order of the memory"


def reason(mine: Counter[str], theirs: Counter[str]) -> str | None:
    """The row that says why the operators of two runs differ, if one does.

    Args:
        mine: number of the graph and full name of each operator here.
        theirs: the same under the real MindSpore.
    """
    graphs = [len({name.partition(" ")[0] for name in operators}) for operators in (mine, theirs)]
    if graphs[1] > graphs[0] and any(_CHOOSES.search(name) for name in (theirs - mine)):
        return "the gradients of `max()`, `min()` and `prod` choose a branch while they run: several graphs"
    return None
