"""What rounding accounts for: a program runs here again, with results of kernels moved by a unit in the last place.

A value that such a run moves as far as the two sides lie apart is decided by rounding: sums that cancel, ``floor`` of
what is almost a whole number, gradients of what a normalization divides out.
"""

from __future__ import annotations

#: runs whose largest move counts
TRIES = 6
#: how far a value must move, as a part of what the sides lie apart
PART = 0.25
_HEAD = """
from harness.framework.runtime import session as _sessions

_moves = np.random.RandomState({seed})


class _Moves:
    def before(self, launch, iteration):
        pass

    def after(self, launch, iteration, results):
        return results if launch.operator.mutates else tuple(map(_moved, results))


def _moved(array):
    if array.dtype.kind != "f":
        return array
    return (array + np.spacing(np.abs(array)) * _moves.choice((-1, 0, 1), array.shape)).astype(array.dtype)


_sessions.current().faults.append(_Moves())


def given"""


def moved(source: str, seed: int) -> str:
    """``source`` (``program.HEAD``) with the results of its kernels moved, by ``seed``."""
    return source.replace("\ndef given", _HEAD.format(seed=seed), 1)
