"""A page about small networks with faults on purpose: ``python -m harness.report.sample OUT.html``.

The emulated CPU makes both runs of each comparison when the page is made: nothing on it is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.backends import BACKENDS
from harness.capture import Capture
from harness.compare import check
from harness.compare.spread import spread
from harness.explain import block, explain, side_of
from harness.report import Run, content, render
from harness.testing.faults.networks import Network, draw

#: Its network is a convolutional one with batch normalisation.
_SEED = 34


@dataclass(frozen=True)
class Sample:
    """A correct network and a wrong variant.

    Attributes:
        name: name of the fault.
        right, wrong: the two networks.
    """

    name: str
    right: Network
    wrong: Network

    @cached_property
    def content(self) -> dict[str, Any]:
        """The page's comparison of one run of each."""
        right, wrong = (_run(network) for network in (self.right, self.wrong))
        comparison = check(right, wrong, "exact")
        told = explain(comparison, side_of(right), side_of(wrong), f"{self.name} differs from the right network")
        texts = right.artefacts, wrong.artefacts
        notes = ["both emulated (backend cpu)"]
        course, words = spread(comparison), block(told)
        return content(
            Run(
                self.name,
                "the right network",
                "the wrong one",
                comparison,
                course,
                told,
                words,
                texts,
                notes,
                verdict="differs",
            )
        )


def samples() -> list[Sample]:
    """An attribute, a learning rate, an operator of another kind, operators left out."""
    net = draw(_SEED)
    other = "avg" if net.settings["pool"] == "max" else "max"
    return [
        Sample("a learning rate", net, net.having(rate=net.settings["rate"] / 2)),
        Sample("an attribute of BatchNorm", net, net.having(bn_eps=1e-3)),
        Sample("another kind of pooling", net, net.having(pool=other)),
        Sample("normalisation left out", net, net.having(norm=False)),
    ]


def page() -> str:
    """Gives the page as text."""
    return render([sample.content for sample in samples()], "msdump: networks with faults on purpose")


def _run(network: Network) -> Capture:
    return BACKENDS.get("cpu").run(network.train, network=network.family)


def main(arguments: Sequence[str]) -> int:
    """Writes the page."""
    if len(arguments) != 1:
        print("usage: python -m harness.report.sample OUT.html", file=sys.stderr)
        return 2
    Path(arguments[0]).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
