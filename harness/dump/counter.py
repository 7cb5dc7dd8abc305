"""The iteration label: one counter per process, set by the graph that ran last.

Measured on 2.10.0 (dump_config.md 2.4): after a graph ran, the counter is the number of that graph's runs plus
``initial_iteration``, in 32 bits; the next run of any graph takes it as its label. With one graph the label is the
step; with alternating graphs labels jump and repeat.
"""

from __future__ import annotations

from harness import log

BITS = 2**32
_log = log.get("dump.counter")


class IterationCounter:
    """Gives each step its label.

    Args:
        initial: label of the first step, 32 bits.
    """

    def __init__(self, initial: int = 0) -> None:
        self._initial = initial % BITS
        self._label = self._initial
        self._by_user = False

    @property
    def label(self) -> int:
        """Label of the step that runs now, or next."""
        return self._label

    def begin(self, label: int | None = None) -> int:
        """The label of the step that begins: ``label`` if the runtime counts itself, else the counter's."""
        if label is not None and not self._by_user:
            self._label = label % BITS
        return self._label

    def finished(self, run: int) -> None:
        """Notes that a graph finished; it had run ``run`` times before."""
        if not self._by_user:
            self._label = (run + 1 + self._initial) % BITS

    def set_initial(self, value: int) -> None:
        """``_set_init_iter``: from now on the label is ``value`` and only ``advance`` changes it."""
        if value < 0:
            raise ValueError(f"an iteration label is not negative; given: {value}")
        self._label = value % BITS
        self._by_user = True

    def advance(self, steps: int = 1) -> None:
        """``_dump_step``: adds ``steps`` to a user's counter; ignored with a warning if there is none."""
        if not self._by_user:
            _log.warning("dump: the step is counted by the harness; a step of %d is ignored", steps)
            return
        self._label = (self._label + steps) % BITS
