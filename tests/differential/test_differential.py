"""A hundred generated programs of fixed seeds, here and under the real MindSpore: another hundred with
``tox -e interop -- -m "interop and deep"``, and others with ``tox -e differential``."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.differential.grow import grown
from tests.differential.side import Side
from tests.differential.sides import AGREE, Pair

pytestmark = pytest.mark.interop

SEED, COUNT = 5000, 100
#: what was measured of 200 when this was written, less two programs; names and graphs that still differ are listed in
#: docs/differences.md
RATE = 0.985


@pytest.mark.parametrize("first", [SEED, pytest.param(SEED + COUNT, marks=pytest.mark.deep)])
def test_generated_programs_agree(first: int, both: tuple[Side, Side]) -> None:
    kinds: Counter[str] = Counter()
    lines: list[str] = []
    with Pair(both) as pair:
        for seed in range(first, first + COUNT):
            found = pair.difference(grown(seed).source())
            kinds[found.kind] += 1
            if found:
                lines.append(f"seed {seed}: {found.kind}: {'; '.join(found.details[:2])[:300]}")
    report = "\n".join([str(dict(kinds)), *lines])
    assert not {"dtypes", "exit", "slots", "values", "text"} & set(kinds), report
    assert sum(kinds[kind] for kind in AGREE) >= RATE * COUNT, report
