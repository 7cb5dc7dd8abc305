"""What the gate needs under pytest-xdist.

Workers write stores themselves, each under the store's lock and in canonical form, so the bytes do not depend on the
order of the workers. Results travel with the test reports. A worker's collection tells which goldens have no owner; the
controller collects nothing and reads this from ``workeroutput``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_msdump.collection import Found

if TYPE_CHECKING:
    from pytest_msdump.gate import Gate

KEY = "msdump"


def is_worker(config: pytest.Config) -> bool:
    """True in a worker process."""
    return hasattr(config, "workerinput")


def worker_bundle(config: pytest.Config) -> str | None:
    """Name of the candidate bundle the controller chose; None outside a worker."""
    given = getattr(config, "workerinput", {}).get(KEY)
    return given["bundle"] if given else None


class XdistHooks:
    """Exchanges data with the workers; these hooks exist only if xdist is loaded."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Before a worker starts."""
        node.workerinput[KEY] = {"bundle": self._gate.bundle}
        if self._gate.settings.regen or self._gate.settings.learn:
            from pytest_msdump.manifests import begin

            begin(self._gate.config, self._gate.settings)  # workers join what the controller commits
        # The controller collects nothing: what it knows comes from the workers.
        self._gate.summary.unused = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Takes over a finished worker's output. A crashed worker leaves none; any other has seen the same
        collection."""
        output = (getattr(node, "workeroutput", None) or {}).get(KEY)
        if output is not None:
            self._gate.collection.found = max(self._gate.collection.found, Found(*output["found"]))
        if output is not None and output["unused"] is not None:
            self._gate.summary.unused = sorted(output["unused"])
