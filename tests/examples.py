"""How much of what is dear runs where: a sample in block 2 of the README, more in CI, all of it in ``tox -e long``.

Of a property block 2 draws a third of the examples of ``tox -e long``, CI two thirds, all fixed; ``tox -e deep`` draws
many fresh ones.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

#: empty in block 2, ``some`` in CI, ``usual`` in ``tox -e long``, ``fresh`` in ``tox -e deep``
DEPTH = os.environ.get("MSDUMP_EXAMPLES", "")
FRESH, SOME = DEPTH == "fresh", DEPTH == "some"

#: of the cases that a sample leaves out of block 2, CI takes one of so many
_FURTHER = 3


def register() -> None:
    """Makes the profile of this run hypothesis's default."""
    # How fast examples are drawn is the machine's affair.
    calm, usual = [HealthCheck.too_slow], _here(30)
    settings.register_profile(
        "same everywhere",
        deadline=None,
        database=None,
        derandomize=True,
        max_examples=usual,
        suppress_health_check=calm,
    )
    settings.register_profile(
        "fresh", deadline=None, database=None, print_blob=True, max_examples=200, suppress_health_check=calm
    )
    settings.load_profile("fresh" if FRESH else "same everywhere")
    if not FRESH and hasattr(providers, "_get_local_constants"):
        # Hypothesis draws some of the numbers that it reads in the modules loaded so far: examples would depend on the
        # tests that ran before, and each process would read all of this project's source first.
        none = providers._local_constants
        providers._get_local_constants = lambda: none


def _here(few: int) -> int:
    """So many examples of ``few``."""
    return max(2, few * 2 // 3) if SOME else few if DEPTH else max(2, few // 3)


def examples(few: int, many: int, **more: Any) -> settings:
    """``hypothesis.settings``: ``few`` examples in ``tox -e long``, a third in block 2, ``many`` in ``tox -e deep``."""
    more["suppress_health_check"] = [*more.get("suppress_health_check", ()), HealthCheck.too_slow]
    return settings(max_examples=many if FRESH else _here(few), deadline=None, **more)


def diagonal(rows: Iterable[Any], columns: Iterable[Any]) -> list[Any]:
    """Pairs for ``parametrize``: every row and column at least once in block 2, all of them in ``tox -e deep``."""
    left, right = list(rows), list(columns)
    step = min(len(left), len(right))
    return [
        pytest.param(row, column, marks=() if (i - j) % step == 0 else pytest.mark.deep)
        for i, row in enumerate(left)
        for j, column in enumerate(right)
    ]


def sample(items: Iterable[pytest.Item]) -> None:
    """Marks as ``long`` what ``@pytest.mark.sampled(N)`` leaves out of block 2: all but one of N cases of its test. Of
    tests beside the real tools it is ``deep``: what CI leaves out of them. So is, where CI runs, all but one of three
    of the others.

    Of the first N cases the first stays, of the next N the second, and so on: where two arguments are crossed, each of
    their values has its turn.
    """
    seen: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("sampled")
        if marker is not None:
            test = item.nodeid.partition("[")[0]
            block, place = divmod(seen[test], marker.args[0])
            if place != block % marker.args[0]:
                further = SOME and left[test] % _FURTHER
                item.add_marker("deep" if further or item.get_closest_marker("interop") else "long")
                left[test] += 1
            seen[test] += 1


def asked(request: pytest.FixtureRequest, argument: str) -> list[Any]:
    """The values of ``argument`` in the tests of the fixture's module that this session runs, each once, in order."""
    given = (getattr(item, "callspec", None) for item in request.session.items if item.path == request.path)
    return list(dict.fromkeys(each.params[argument] for each in given if each and argument in each.params))
