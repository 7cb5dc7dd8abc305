"""Collective operators: what the ranks of a group give one another.

Source: MindSpore 2.10.0's definition of each; what a CPU of it refuses is refused on a CPU here (``TAKEN_ON_CPU``,
measured with two and four ranks). In a group of one each returns its argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes, hooks
from harness.errors import DtypeError, KernelError, UnsupportedError
from harness.framework.communication import world
from harness.framework.communication.group import WORLDS, members, place
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.group_sums import reduced
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

_HALF_OR_SINGLE = frozenset({"Float16", "Float32"})
_WIDE = frozenset({"Float16", "Float32", "Float64", "Int32", "Int64"})
#: what a CPU has kernels for: dtypes of the tensors
TAKEN_ON_CPU = {"AllReduce": _HALF_OR_SINGLE, "AllGather": _WIDE, "Broadcast": _WIDE}
#: dtypes that no device reduces
_NOT_REDUCED = frozenset({"Float64", "UInt8", "UInt16", "UInt32", "UInt64", "Complex128"})
#: a tensor of more bytes is reduced in parts, one a rank
_PARTS = 1 << 16


class Collective(Operator):
    """Base: a tensor goes to the ranks of the group ``group``.

    Attributes:
        reduces: whether it combines tensors, which not every dtype can be.
    """

    functional = False
    tensors: ClassVar[tuple[int, ...]] = (0,)
    reduces = False

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return call.tensor(0).tensor

    def check(self, call: Call) -> None:
        """Refuses what no device has, and on a CPU what that has not."""
        dtype = call.dtype(0) if call.inputs and isinstance(call.inputs[0], TensorSpec) else None
        if len(members(call.attrs["group"])) == 1 and not self._is_refused_alone(call.attrs["group"]):
            return
        if self.reduces and dtype is not None and dtype.name in _NOT_REDUCED:
            raise DtypeError(f"{self.name}: it cannot combine {dtype}; cast it (ops.cast)")
        if hooks.provided("device").target != "CPU":
            return
        taken = TAKEN_ON_CPU.get(self.name)
        if taken is not None and dtype is not None and dtype.name not in taken:
            raise DtypeError(f"{self.name}: MindSpore's CPU has no kernel for {dtype}; cast it (ops.cast)")
        if taken is None or call.attrs.get("op", "sum") != "sum":
            op = f" with op {call.attrs['op']!r}" if "op" in call.attrs else ""
            raise KernelError(
                f"{self.name}{op}: MindSpore's CPU has no kernel for it; it has AllReduce (sum), AllGather and "
                "Broadcast; run on another backend (--backend ascend-o0)"
            )
        if self.name != "AllReduce" and call.attrs["group"] not in WORLDS:
            raise KernelError(f"{self.name}: MindSpore's CPU has it for the group of all ranks alone, not for "
                              f"{call.attrs['group']!r}")  # fmt: skip

    def _is_refused_alone(self, group: str) -> bool:
        """Whether a CPU lacks it for a group that one of several ranks makes alone (measured:
        ``tests/interop/ranks/mint.py``)."""
        return self.name in ("AllGather", "Broadcast") and group not in WORLDS and world.current().size > 1

    def kernel(self, call: Call, x: Array) -> Array:
        return x if len(members(call.attrs["group"])) == 1 else self.together(call, x)

    def together(self, call: Call, x: Array) -> Array:
        """The result in a group of several."""
        raise NotImplementedError


def exchange(call: Call, what: str, blocks: Sequence[bytes]) -> list[bytes]:
    """Gives the ranks of the call's group their blocks (one for all), and gets theirs."""
    here, group = world.current(), call.attrs["group"]
    if here.client is None:
        raise KernelError(f"{call.op}: this process is rank {here.rank} of {here.size} and has no connection to others")
    place(group)
    name = "world" if group in WORLDS else group
    return here.client.exchange(name, members(group), what, blocks)


def said(call: Call, setting: str = "") -> str:
    """A call in words that all ranks must say alike: ``AllReduce(sum) of Float32[2, 2]``."""
    shown = ", ".join(f"{spec.dtype}{list(spec.shape)}" for spec in _tensors(call.inputs))
    return f"{call.op}{f'({setting})' if setting else ''} of {shown}"


def _tensors(specs: Sequence[Spec]) -> list[TensorSpec]:
    return [
        each
        for spec in specs
        for each in (spec.items if isinstance(spec, TupleSpec) else (spec,))
        if isinstance(each, TensorSpec)
    ]


def _arrays(blocks: Sequence[bytes], like: Array, shape: Sequence[int] | None = None) -> list[Array]:
    return [np.frombuffer(b, like.dtype).reshape(like.shape if shape is None else shape) for b in blocks]


@operator
class AllReduce(Collective):
    """The sum (largest, smallest, product) of a tensor over the group."""

    name = "AllReduce"
    reduces = True

    def together(self, call: Call, x: Array) -> Array:
        op, dtype, ranks = call.attrs["op"], call.dtype(0), members(call.attrs["group"])
        what = said(call, op)
        if x.nbytes <= _PARTS:
            return reduced(_arrays(exchange(call, what, [x.tobytes()]), x), op, dtype)
        parts = np.array_split(np.ascontiguousarray(x).reshape(-1), len(ranks))
        own = parts[place(call.attrs["group"])]
        mine = exchange(call, what, [part.tobytes() for part in parts])
        whole = reduced(_arrays(mine, own, own.shape), op, dtype)
        rest = exchange(call, what, [np.asarray(whole).tobytes()])
        return np.concatenate([np.frombuffer(block, x.dtype) for block in rest]).reshape(x.shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, op, attrs = b.inputs[0], b.attrs["op"], {**b.attrs, "op": "sum"}
        if op == "prod":
            return (emit("RealDiv", emit("AllReduce", emit("Mul", b.dout, b.out), **attrs), x),)
        total = emit("AllReduce", b.dout, **attrs)
        if op == "sum":
            return (total,)
        return (emit("Mul", total, emit("Cast", emit("Equal", x, b.out), total.dtype)),)


@operator
class AllGather(Collective):
    """The tensors of the group, one after the other along the first axis."""

    name = "AllGather"

    def infer(self, call: Call) -> Spec:
        self.check(call)
        x, size = call.tensor(0), len(members(call.attrs["group"]))
        if not x.shape and size > 1:
            raise call.fail("a tensor without axes cannot be gathered along its first axis")
        return TensorSpec(x.dtype, (x.shape[0] * size, *x.shape[1:])) if x.shape else x.tensor

    def together(self, call: Call, x: Array) -> Array:
        return np.concatenate(_arrays(exchange(call, said(call), [x.tobytes()]), x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("ReduceScatter", b.dout, **{**b.attrs, "op": "sum"}),)


class _Shared(Collective):
    """Base: the first axis is shared among the ranks."""

    def infer(self, call: Call) -> Spec:
        self.check(call)
        x, size = call.tensor(0), len(members(call.attrs["group"]))
        if size > 1 and (not x.shape or x.shape[0] % size):
            raise call.fail(f"the first axis cannot be shared among {size} ranks")
        return TensorSpec(x.dtype, (x.shape[0] // size, *x.shape[1:])) if x.shape else x.tensor


@operator
class ReduceScatter(_Shared):
    """This process's part of the sum over the group."""

    name = "ReduceScatter"
    reduces = True

    def together(self, call: Call, x: Array) -> Array:
        op, parts = call.attrs["op"], np.split(x, len(members(call.attrs["group"])))
        blocks = exchange(call, said(call, op), [part.tobytes() for part in parts])
        return reduced(_arrays(blocks, parts[0]), op, call.dtype(0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        if b.attrs["op"] != "sum":
            raise UnsupportedError("ReduceScatter: only that of op 'sum' has a gradient")
        return (emit("AllGather", b.dout, **{k: v for k, v in b.attrs.items() if k != "op"}),)


@operator
class Broadcast(Collective):
    """The tensors (a tuple) of rank ``root_rank``, for all of the group."""

    name = "Broadcast"
    tensors = ()

    def infer(self, call: Call) -> Spec:
        self.check(call)
        given = _tensors(call.inputs)
        for each in given:
            self.check(Call(call.op, (each,), (None,), call.attrs))
        return TupleSpec(tuple(each.tensor for each in given))

    def check(self, call: Call) -> None:
        if isinstance(call.inputs[0], TensorSpec):
            super().check(call)

    def kernel(self, call: Call, *args: Any) -> Any:
        given = tuple(args[0]) if isinstance(args[0], (tuple, list)) else args
        ranks = members(call.attrs["group"])
        if len(ranks) == 1:
            return given
        root = call.attrs["root_rank"]
        is_root = place(call.attrs["group"]) == root
        blocks = [b"".join(np.asarray(x).tobytes() for x in given)] if is_root else []
        whole = exchange(call, said(call, f"from {root}"), blocks)[root]
        out, at = [], 0
        for x in given:
            out += _arrays([whole[at : at + x.nbytes]], x)
            at += x.nbytes
        return tuple(out)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (b.dout,)


@operator
class Reduce(Collective):
    """The sum (largest, smallest, product) over the group for rank ``dest_rank``; the others get one 0."""

    name = "Reduce"
    reduces = True

    def infer(self, call: Call) -> Spec:
        self.check(call)
        x = call.tensor(0)
        return x.tensor if _is(call, "dest_rank") else TensorSpec(x.dtype, (1,))

    def together(self, call: Call, x: Array) -> Array:
        op, root = call.attrs["op"], call.attrs["dest_rank"]
        mine = [b""] * len(members(call.attrs["group"]))
        mine[root] = x.tobytes()
        blocks = exchange(call, said(call, f"{op} to {root}"), mine)
        return reduced(_arrays(blocks, x), op, call.dtype(0)) if _is(call, "dest_rank") else np.zeros(1, x.dtype)

    def gradient(self, b: Backward) -> Sequence[Any]:
        rest = {k: v for k, v in b.attrs.items() if k not in ("op", "dest_rank")}
        return (emit("Broadcast", (b.dout,), root_rank=b.attrs["dest_rank"], **rest)[0],)


@operator
class CollectiveGather(Collective):
    """The tensors of the group along the first axis, for rank ``dest_rank``; the others get one 0."""

    name = "CollectiveGather"

    def infer(self, call: Call) -> Spec:
        self.check(call)
        x, size = call.tensor(0), len(members(call.attrs["group"]))
        if not _is(call, "dest_rank"):
            return TensorSpec(x.dtype, (1,))
        return TensorSpec(x.dtype, (x.shape[0] * size, *x.shape[1:]))

    def together(self, call: Call, x: Array) -> Array:
        root = call.attrs["dest_rank"]
        mine = [b""] * len(members(call.attrs["group"]))
        mine[root] = x.tobytes()
        blocks = exchange(call, said(call, f"to {root}"), mine)
        return np.concatenate(_arrays(blocks, x)) if _is(call, "dest_rank") else np.zeros(1, x.dtype)


@operator
class CollectiveScatter(_Shared):
    """This process's part of the tensor of rank ``src_rank``."""

    name = "CollectiveScatter"

    def together(self, call: Call, x: Array) -> Array:
        root, parts = call.attrs["src_rank"], np.split(x, len(members(call.attrs["group"])))
        mine = [part.tobytes() for part in parts] if _is(call, "src_rank") else []
        return _arrays([exchange(call, said(call, f"from {root}"), mine)[root]], parts[0])[0]


@operator
class AlltoAll(Collective):
    """Cut along one axis, a piece for each rank; the pieces that come are joined along another."""

    name = "AlltoAll"

    def infer(self, call: Call) -> Spec:
        self.check(call)
        x, count = call.tensor(0), call.attrs["split_count"]
        split, concat = call.attrs["split_dim"], call.attrs["concat_dim"]
        shape = list(x.shape)
        if count != len(members(call.attrs["group"])):
            raise call.fail(f"split_count must be the size of the group, {len(members(call.attrs['group']))}")
        if not (-len(shape) <= split < len(shape) and -len(shape) <= concat < len(shape)) or shape[split] % count:
            raise call.fail(f"axis {split} cannot be cut into {count} pieces that are joined along axis {concat}")
        shape[split] //= count
        shape[concat] *= count
        return TensorSpec(x.dtype, tuple(shape))

    def together(self, call: Call, x: Array) -> Array:
        split, concat = call.attrs["split_dim"], call.attrs["concat_dim"]
        pieces = np.split(x, call.attrs["split_count"], split)
        blocks = exchange(call, said(call, f"{split} to {concat}"), [piece.tobytes() for piece in pieces])
        return np.concatenate(_arrays(blocks, pieces[0], pieces[0].shape), concat)

    def gradient(self, b: Backward) -> Sequence[Any]:
        turned = {"split_dim": b.attrs["concat_dim"], "concat_dim": b.attrs["split_dim"]}
        return (emit("AlltoAll", b.dout, **{**b.attrs, **turned}),)


@operator
class Barrier(Collective):
    """Waits for all of the group; gives one 0."""

    name = "Barrier"
    tensors = ()
    side_effect = "io"

    def infer(self, call: Call) -> Spec:
        self.check(call)
        return TensorSpec(dtypes.float32, (1,))

    def kernel(self, call: Call, *_args: Any) -> Array:
        if len(members(call.attrs["group"])) > 1:
            exchange(call, "Barrier", [])
        return np.zeros(1, np.float32)


@operator
class Send(Collective):
    """Sends a tensor to rank ``dest_rank``, which receives it with the same tag; gives it back."""

    name = "Send"
    side_effect = "io"

    def kernel(self, call: Call, x: Array) -> Array:
        group, here = call.attrs["group"], world.current()
        peer = members(group)[call.attrs["dest_rank"]]
        if here.client is None or peer == here.rank:
            raise KernelError(f"Send: rank {here.rank} of {here.size} cannot send to rank {peer}")
        name = "world" if group in WORLDS else group
        here.client.send(name, peer, call.attrs["sr_tag"], _sent(call.tensor(0)), x.tobytes())
        return x


@operator
class Receive(Collective):
    """The tensor that rank ``src_rank`` sends with the same tag."""

    name = "Receive"
    tensors = ()
    side_effect = "io"

    def infer(self, call: Call) -> Spec:
        out = TensorSpec(call.attrs["dtype"], tuple(call.attrs["shape"]))
        self.check(Call(call.op, (out,), (None,), call.attrs))
        return out

    def kernel(self, call: Call, *_args: Any) -> Array:
        group, here = call.attrs["group"], world.current()
        peer = members(group)[call.attrs["src_rank"]]
        out = call.outputs()[0]
        if here.client is None or peer == here.rank:
            raise KernelError(f"Receive: rank {here.rank} of {here.size} cannot receive from rank {peer}")
        name = "world" if group in WORLDS else group
        block = here.client.receive(name, peer, call.attrs["sr_tag"], _sent(out))
        return np.frombuffer(block, out.dtype.numpy).reshape(out.shape)


def _sent(spec: TensorSpec) -> str:
    return f"{spec.dtype}{list(spec.shape)}"


def _is(call: Call, which: str) -> bool:
    """Whether this process is the one that attribute ``which`` names."""
    return bool(place(call.attrs["group"]) == call.attrs[which])
