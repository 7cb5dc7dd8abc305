"""Facts about a PyTorch operator from its schema, and the few that the schema does not state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from harness.capture.torch import collectives
from harness.capture.torch.scalars import Signature, is_view

#: Not recorded: bookkeeping, aliases of a tensor, and uninitialised memory.
_SILENT = frozenset({
    "alias", "detach", "detach_", "empty", "empty_like", "empty_permuted", "empty_strided", "is_pinned", "lift",
    "lift_fresh", "new_empty", "new_empty_strided", "_local_scalar_dense", "resize_", "set_", "record_stream",
})  # fmt: skip
_MEMORY = frozenset({
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_",
})  # fmt: skip
#: They do not read what they write in place, which may be uninitialised memory.
_OVERWRITE = frozenset({
    "_foreach_copy_", "_foreach_zero_", "bernoulli_", "cauchy_", "copy_", "exponential_", "fill_", "geometric_",
    "log_normal_", "normal_", "random_", "uniform_", "zero_",
})  # fmt: skip
#: They update running statistics in place, although their schemas do not say so.
_HIDDEN = {
    "native_batch_norm": ("running_mean", "running_var"),
    "cudnn_batch_norm": ("running_mean", "running_var"),
    "miopen_batch_norm": ("running_mean", "running_var"),
}
#: The result that is a library's scratch memory: partly filled, and different from run to run.
_SCRATCH = {
    "mkldnn_rnn_layer": 3, "_cudnn_rnn": 3, "miopen_rnn": 3, "cudnn_batch_norm": 3, "_batch_norm_with_update": 3,
    "fsdp.all_gather_copy_in": 1,
}  # fmt: skip
#: The arguments that pass it to the backward.
_SCRATCH_READ = {
    "mkldnn_rnn_layer_backward": "workspace",
    "_cudnn_rnn_backward": "reserve",
    "miopen_rnn_backward": "reserve",
    "cudnn_batch_norm_backward": "reserveSpace",
    "batch_norm_backward": "reserve",
}


class Operator:
    """One overload.

    Args:
        function: the function that ``__torch_dispatch__`` receives.

    Attributes:
        name: ``addmm``; for a namespace other than PyTorch's own, ``mylib.scale``.
        recorded: whether it computes anything.
        scalars: its arguments that are no tensors.
        collective: whether several ranks compute it together.
        is_view: whether it gives a view of what it is given.
        functional: whether it is a collective whose results are awaited by an operator of their own.
        writes: whether it may write in place.
        makes_memory: whether it gives memory that nothing has filled yet.
        is_constant: whether it gives a value that the program states.
        is_random: whether it may draw from a generator.
    """

    def __init__(self, function: Any) -> None:
        schema = getattr(function, "_schema", None)  # operators of higher order have none
        space, _, plain = (schema.name if schema is not None else f"higher_order::{function.name()}").rpartition("::")
        self.name = plain if space == "aten" else f"{space}.{plain}"
        self.collective = space in collectives.SPACES
        self.functional = self.collective and space != "c10d"
        self._plain = plain
        silent = (space == "aten" and plain in _SILENT) or (self.collective and plain in collectives.SILENT)
        self.recorded = space != "profiler" and not silent
        arguments = schema.arguments if schema is not None else ()
        ours = space == "aten"
        hidden = _HIDDEN.get(plain, ()) if ours else ()
        self._has_statistics = bool(hidden)
        self._written: list[tuple[int, str]] = []
        self._scratch = _SCRATCH.get(self.name)
        handed = _SCRATCH_READ.get(plain) if ours else None
        self._unread: set[str] = set()
        self._positions = {argument.name: at for at, argument in enumerate(arguments)}
        for at, argument in enumerate(arguments):
            written = argument.alias_info is not None and argument.alias_info.is_write
            if space == "c10d" and "Tensor" in str(argument.type):
                written = collectives.is_written(plain, argument.name)
                if not collectives.is_read(plain, argument.name):
                    self._unread.add(argument.name)
            if written or argument.name in hidden:
                self._written.append((at, argument.name))
            if argument.name == handed or (written and (argument.kwarg_only or self.name in _OVERWRITE)):
                self._unread.add(argument.name)
            if space == "fsdp" and plain == "all_gather_copy_in" and argument.name == "all_gather_output":
                self._unread.add(argument.name)
        self.is_random = torch.Tag.nondeterministic_seeded in getattr(function, "tags", ())
        self.writes = bool(self._written)
        self.makes_memory = silent and plain in _MEMORY
        self.is_constant = silent and plain in ("lift", "lift_fresh")
        self.is_view = schema is not None and is_view(schema)
        self.scalars = Signature(function)
        self._unread_at = {self._positions[name] for name in self._unread}

    def inputs(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The tensors it reads, in the order of its arguments, lists flattened."""
        if self.collective and collectives.reads_alone(self._plain) and not self._takes_part(args, kwargs):
            return []
        if not self._unread:
            return tensors((*args, *kwargs.values()) if kwargs else args)
        return tensors(
            [each for at, each in enumerate(args) if at not in self._unread_at]
            + [each for name, each in kwargs.items() if name not in self._unread]
        )

    def outputs(self, result: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The tensors it returns, then those it wrote in place without returning them; without scratch memory."""
        if self.collective and not collectives.reads_alone(self._plain) and not self._takes_part(args, kwargs):
            return []
        given = tensors((result,))
        known = set(map(id, given)) if self._written else set()
        if self._scratch is not None:
            given = tensors(each for at, each in enumerate(result) if at != self._scratch)
        if self._written:
            given += [each for each in self.written(args, kwargs) if id(each) not in known]
        return given

    def _takes_part(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        return collectives.takes_part(self._plain, self._positions, args, kwargs)

    def written(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The tensors it writes in place."""
        if not self._written:
            return []
        return tensors([args[at] if at < len(args) else kwargs.get(name) for at, name in self._written])

    def changed(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """Likewise, of this call: running statistics are updated in training alone."""
        at = self._positions.get("training") if self._has_statistics else None
        idle = at is not None and not (args[at] if at < len(args) else kwargs.get("training"))
        return [] if idle else self.written(args, kwargs)

    def generator(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The generator that a random operator draws from; None if that is not known."""
        at = self._positions.get("generator", len(args))
        given = args[at] if at < len(args) else kwargs.get("generator")
        if given is not None:
            return given
        device = next((each.device for each in tensors((*args, *kwargs.values()))), None)
        device = torch.device(kwargs.get("device") or device or "cpu")
        if device.type == "cpu":
            return torch.default_generator
        if device.type == "cuda":
            return torch.cuda.default_generators[device.index or 0]
        return None

    def overwritten(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The tensors it writes in place and does not read, with the names of their arguments."""
        unread = [(at, name) for at, name in self._written if name in self._unread]
        given = [(name, args[at] if at < len(args) else kwargs.get(name)) for at, name in unread]
        return [(name, tensor) for name, value in given for tensor in tensors((value,))]


def tensors(values: Iterable[Any]) -> list[Any]:
    """The tensors among ``values``, lists and tuples flattened."""
    return list(_walk(values))


def _walk(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _walk(value)


_OPERATORS: dict[int, tuple[Any, Operator]] = {}


def known(function: Any) -> Operator:
    """The facts about an overload, gathered once."""
    # PyTorch has some thousands of overloads, which live as long as the process; asking one for its hash is slow.
    found = _OPERATORS.get(id(function))
    if found is None:
        found = _OPERATORS[id(function)] = function, Operator(function)
    return found[1]
