"""Trainings of several ranks, computed in numpy and recorded as a capture would, with a fault on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.dtypes import ARGUMENT_FORMAT, TORCH_FORMAT, from_numpy
from harness.records import Record, SlotKey
from harness.stats.digest import digest
from tests.explain.ranks.faults import FAULTS, Fault

Array = np.ndarray[Any, np.dtype[Any]]

#: those of ``FAULTS`` that these trainings can have
KINDS = tuple(kind for kind in FAULTS if kind != "largest for sum")


@dataclass
class Training:
    """A data-parallel training, its ranks paired for tensor parallelism if ``pairs``.

    Args:
        ranks, layers, width, iterations: sizes.
        seed: of weights, data and random numbers.
        pairs: whether each two ranks split the layers' columns.
        average: whether gradients are scaled after a sum, or averaged by the reduction.
        fault: the fault.
    """

    ranks: int
    layers: int
    width: int
    iterations: int
    seed: int
    pairs: bool = False
    average: bool = False
    fault: Fault | None = None
    records: dict[int, list[Record]] = field(default_factory=dict)

    def run(self) -> list[Record]:
        """The records of all ranks."""
        self.records = {rank: [] for rank in range(self.ranks)}
        self.before: dict[tuple[int, str], Array] = {}
        size = self.width // 2 if self.pairs else self.width
        self.weights = [
            [
                self._drawn("weight", layer, r % 2 if self.pairs else 0, shape=(self.width, size))
                for layer in self._layers
            ]
            for r in range(self.ranks)
        ]
        if self._is("replica"):
            assert self.fault is not None
            weights = self.weights[self.fault.rank]
            weights[self.fault.which] = weights[self.fault.which] * np.float32(1.25)
            self._put(f"layer{self.fault.which}/mm-op0")
        for iteration in range(self.iterations):
            self._step(iteration)
        return [record for rank in range(self.ranks) for record in self.records[rank]]

    @property
    def _layers(self) -> range:
        return range(self.layers)

    def _drawn(self, *what: Any, shape: tuple[int, ...]) -> Array:
        known = [sum(map(ord, each)) if isinstance(each, str) else each for each in what]
        return np.random.default_rng([self.seed, *known]).normal(size=shape).astype(np.float32)

    def _is(self, kind: str, rank: int | None = None, layer: int | None = None) -> bool:
        """Whether the fault of this kind is due here."""
        fault = self.fault
        if fault is None or fault.kind != kind:
            return False
        if rank is None:
            return True
        return fault.rank == rank and fault.iteration == self.iteration and (layer is None or fault.which == layer)

    def _put(self, operator: str) -> None:
        assert self.fault is not None
        self.fault.operator, self.fault.done = operator, True

    def _step(self, iteration: int) -> None:
        self.iteration, self.counts = iteration, [Counter[str]() for _ in range(self.ranks)]
        everyone = range(self.ranks)
        acts: list[list[Array]] = [[] for _ in everyone]
        values = [self._batch(rank) for rank in everyone]
        for layer in self._layers:
            for rank in everyone:
                acts[rank].append(values[rank])
                values[rank] = self._forward(rank, layer, values[rank])
            if self.pairs:
                values = self._gathered(layer, values)
        grads = [self.op(rank, "loss/mse", "mse", [values[rank]], values[rank] * np.float32(0.01)) for rank in everyone]
        gradients: list[dict[int, Array]] = [{} for _ in everyone]
        for layer in reversed(self._layers):
            for rank in everyone:
                part = self._part(rank, grads[rank])
                name = f"Gradients/layer{layer}/mm"
                gradients[rank][layer] = self.op(
                    rank, name, "mm", [acts[rank][layer], part], acts[rank][layer].T @ part
                )
                name = f"Gradients/layer{layer}/dot"
                back = part @ self.weights[rank][layer].T
                grads[rank] = self.op(rank, name, "mm", [part, self.weights[rank][layer]], back)
        self._reduce(gradients)
        for rank in everyone:
            self._update(rank, gradients[rank])

    def _part(self, rank: int, grad: Array) -> Array:
        half = self.width // 2
        return np.ascontiguousarray(grad[:, rank % 2 * half : rank % 2 * half + half]) if self.pairs else grad

    def _batch(self, rank: int) -> Array:
        shard, iteration = rank // 2 if self.pairs else rank, self.iteration
        if self._is("shard", rank):
            assert self.fault is not None
            shard = self.fault.other // 2 if self.pairs else self.fault.other
            self._put("layer0/mm-op0")
        if self._is("batch", rank):
            iteration -= 1
            self._put("layer0/mm-op0")
        return self._drawn("data", iteration, shard, shape=(3, self.width))

    def _forward(self, rank: int, layer: int, value: Array) -> Array:
        weight, name = self.weights[rank][layer], f"layer{layer}/"
        made = value @ weight
        if self._is("bit in an operator", rank, layer):
            made = _flipped(made, self.seed)
            self._put(f"{name}mm-op0")
        made = self.op(rank, f"{name}mm", "mm", [value, weight], made)
        seed = rank
        if self._is("seed of a rank", rank, layer):
            assert self.fault is not None
            seed = self.fault.other
            self._put(f"{name}bernoulli-op0")
        if self._is("seed", rank, layer):
            seed = 1000 + rank
            self._put(f"{name}bernoulli-op0")
        mask = (self._drawn("mask", self.iteration, layer, seed, shape=made.shape) > -0.3).astype(np.float32)
        mask = self.op(rank, f"{name}bernoulli", "bernoulli", [], mask, "p=0.62")
        kept = self.op(rank, f"{name}mul", "mul", [made, mask], made * mask)
        slope = kept * np.where(kept > 0, np.float32(1), np.float32(0.1))
        if self._is("kernel", rank, layer):
            slope = slope * np.float32(1.01) + np.float32(0.003)
            self._put(f"{name}leaky_relu-op0")
        return self.op(rank, f"{name}leaky_relu", "leaky_relu", [kept], slope)

    def _gathered(self, layer: int, values: list[Array]) -> list[Array]:
        whole = []
        for rank in range(self.ranks):
            pair = rank // 2 * 2
            made = np.concatenate([values[pair], values[pair + 1]])
            said = f"group=[{pair}, {pair + 1}]"
            got = self.op(rank, f"layer{layer}/c10d.allgather_", "c10d.allgather_", [values[rank]], made, said)
            half = len(got) // 2
            joined = np.ascontiguousarray(np.concatenate([got[:half], got[half:]], axis=1))
            whole.append(self.op(rank, f"layer{layer}/cat", "cat", [got], joined))
        return whole

    def _group(self, rank: int) -> list[int]:
        return list(range(rank % 2, self.ranks, 2)) if self.pairs else list(range(self.ranks))

    def _reduce(self, gradients: list[dict[int, Array]]) -> None:
        given_ranks = range(self.ranks)
        orders = [list(reversed(self._layers)) for _ in range(self.ranks)]
        fault = self.fault
        if fault is not None and fault.kind == "order" and fault.iteration == self.iteration:
            orders[fault.rank][0], orders[fault.rank][1] = orders[fault.rank][1], orders[fault.rank][0]
            self._put("grads/c10d.allreduce_-op0")
        given = [{layer: each.copy() for layer, each in mine.items()} for mine in gradients]
        for rank in range(self.ranks):
            for layer in orders[rank]:
                at = orders[rank].index(layer)
                self._reduced(rank, layer, {each: given[each][orders[each][at]] for each in given_ranks}, gradients)

    def _reduced(self, rank: int, layer: int, given: dict[int, Array], gradients: list[dict[int, Array]]) -> None:
        kind = "c10d.allreduce_"
        group, name, own = self._group(rank), f"grads/{kind}", given[rank]
        operator = f"{name}-op{self.counts[rank][name]}"
        parts = [given[each] for each in group]
        made = np.add.reduce(parts)
        said, asked = f"group={group}", "AVG" if self.average else "SUM"
        made = made / np.float32(len(group)) if self.average else made
        flat: list[Array] = [own]
        if self._is("missing", rank, layer):
            self._put(operator)
            return
        reduced = made
        ways = {
            "bit in a reduction": lambda: _flipped(reduced, self.seed),
            "stale buffer": lambda: self.before[rank, operator],
            "not reduced": lambda: own,
            "fewer ranks": lambda: np.add.reduce([given[r] for r in group if r != self._left_out(group, rank)]),
        }
        for fault, value in ways.items():
            if self._is(fault, rank, layer):
                made = value()
                self._put(operator)
        if self._is("mean for sum") and self._is("mean for sum", self.fault.rank if self.fault else 0, layer):
            made = made / np.float32(len(group))
            self._put(operator)
        if self._is("group", rank, layer):
            smaller = [each for each in group if each != self._left_out(group, rank)]
            said, made = f"group={smaller}", np.add.reduce([given[each] for each in smaller])
            self._put(operator)
        if self._is("reduction asked for", rank, layer):
            asked, made = "AVG", np.add.reduce(parts) / np.float32(len(group))
            self._put(operator)
        if self._is("shape", rank, layer):
            flat, made = [own.reshape(-1)], made.reshape(-1)
            self._put(operator)
        made = self.op(rank, name, kind, flat, made, f"{said}\nreduce_op={asked}").reshape(own.shape)
        self.before[rank, operator] = made
        if not self.average:
            scale = np.float32(1 / len(group))
            made = self.op(rank, "grads/mul", "mul", [made], made * scale, number=float(scale))
        gradients[rank][layer] = made

    def _left_out(self, group: list[int], rank: int) -> int:
        return next(each for each in reversed(group) if each != rank)

    def _update(self, rank: int, gradients: dict[int, Array]) -> None:
        for layer in self._layers:
            weight, grad, rate = self.weights[rank][layer], gradients[layer], 0.1
            if self._is("frozen", rank, layer):
                self._put(f"optimizer/add_-op{layer}")
                continue
            if self._is("rate", rank, layer):
                rate = 0.3
                self._put(f"optimizer/add_-op{layer}")
            change = weight - np.float32(rate) * grad
            made = self.op(rank, "optimizer/add_", "add_", [weight, grad], change, number=-rate)
            self.weights[rank][layer] = made
        for layer in self._layers:
            key = SlotKey(rank, 0, self.iteration, f"layer{layer}.weight", 0, "output", 0)
            self.records[rank].append(_record(key, "Parameter", self.weights[rank][layer], TORCH_FORMAT))

    def op(
        self,
        rank: int,
        name: str,
        kind: str,
        given: Sequence[Array],
        made: Array,
        said: str = "",
        number: float | None = None,
    ) -> Array:
        operator = f"{name}-op{self.counts[rank][name]}"
        self.counts[rank][name] += 1
        where = rank, 0, self.iteration, operator, 0
        found = self.records[rank]
        found += [_record(SlotKey(*where, "input", at), kind, each, TORCH_FORMAT) for at, each in enumerate(given)]
        text = np.frombuffer(said.encode(), np.uint8) if said else None
        extra = text if number is None else np.asarray(number)
        if extra is not None:
            found.append(_record(SlotKey(*where, "input", len(given)), kind, extra, ARGUMENT_FORMAT))
        found.append(_record(SlotKey(*where, "output", 0), kind, made, TORCH_FORMAT))
        return made


def _record(key: SlotKey, kind: str, array: Array, layout: str) -> Record:
    dtype = from_numpy(array.dtype).name
    return Record(key, kind, dtype, array.shape, layout, array, digest=digest(array, dtype))


def _flipped(array: Array, seed: int) -> Array:
    found = array.copy()
    bits = found.reshape(-1).view(np.uint32)
    draw = np.random.default_rng(seed)
    bits[draw.integers(bits.size)] ^= np.uint32(1 << int(draw.integers(8, 31)))
    return found


def drawn(seed: int, ranks: int | None = None, kind: str | None = None) -> Training:
    """A training with a drawn fault; ``kind`` empty for none."""
    draw = np.random.default_rng(seed)
    count = ranks or int(draw.choice([2, 4]))
    kind = str(draw.choice(KINDS)) if kind is None else kind
    pairs = count > 2 and bool(draw.integers(2))
    groups = count // 2 if pairs else count
    if kind in ("fewer ranks", "group") and groups < 3:
        pairs, count = False, max(count, 4)
    average = bool(draw.integers(2)) and kind not in ("mean for sum", "reduction asked for", "fewer ranks", "group")
    layers, width, iterations = int(draw.integers(2, 4)), 2 * int(draw.integers(2, 5)), 3
    rank = int(draw.integers(count))
    others = [each for each in range(count) if (each // 2 != rank // 2 if pairs else each != rank)]
    fault = None
    if kind:
        iteration = int(draw.integers(1, iterations))
        fault = Fault(kind, rank, iteration, int(draw.integers(layers)), int(draw.choice(others)))
    return Training(count, layers, width, iterations, seed, pairs, average, fault)
