"""What operators a capture of PyTorch has, and where their inputs come from: each once, and again where it is another
one in a later step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.capture.made import Made
from harness.capture.torch.origins import Ran, Source, edge_of
from harness.recording.described import Described, Edge


class Declarations:
    """Notes the operators of steps; describes them when somebody asks.

    Args:
        graph: label of the module's operators.
        rank: process rank.
    """

    def __init__(self, graph: int, rank: int) -> None:
        self._graph, self._rank = graph, rank
        self._operators: dict[str, Ran] = {}
        self._seen: dict[str, set[tuple[object, ...]]] = {}
        self._results: tuple[Edge, ...] = ()

    def add(self, iteration: int, ran: Iterable[Ran], results: Iterable[Source]) -> None:
        """Notes the operators of a step, and what its first call returned."""
        for each in ran:
            looks, known = each.seen(), self._seen.setdefault(each.name, set())
            if looks not in known:
                self._operators[f"{each.name}@{iteration}" if known else each.name] = each
                known.add(looks)
        self._results = self._results or tuple(map(edge_of, results))

    def made(self) -> tuple[Mapping[tuple[int, int, str], Described], Mapping[tuple[int, int], tuple[Edge, ...]]]:
        """Operators by rank, graph and name, and what the module gave, so far."""
        operators, graph, rank = dict(self._operators), self._graph, self._rank
        found: Made[tuple[int, int, str], Described] = Made(
            lambda: {(rank, graph, name): each.described(name, graph, rank) for name, each in operators.items()}
        )
        return found, {(rank, graph): self._results} if self._results else {}
