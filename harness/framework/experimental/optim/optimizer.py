"""``Optimizer``: the base of the experimental optimizers, whose groups are dicts that a user may change.

Source of the parameters, their names and what is emitted: MindSpore 2.10.0, measured
(``tests/data/nn/experimental.json``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from harness import dtypes
from harness.errors import CellAttributeError, SettingError, SettingTypeError
from harness.framework.compile.statements import arithmetic, branch
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, ParameterTuple, Tensor, mutable

__all__ = ["Optimizer"]


def above(value: Any, name: str, owner: str, bound: float = 0.0) -> None:
    """``SettingError`` unless ``value`` is greater than ``bound``."""
    if value <= bound:
        raise SettingError(f"{owner}: {name} must be greater than {bound}, got {value!r}")


def at_least_zero(value: Any, name: str, owner: str) -> None:
    """``SettingError`` if ``value`` is below 0."""
    if value < 0.0:
        raise SettingError(f"{owner}: {name} must be at least 0, got {value!r}")


def share(value: Any, name: str, owner: str, low: bool = True, high: bool = False) -> None:
    """``SettingError`` unless the float ``value`` lies between 0 and 1; ``low`` and ``high`` say whether they count."""
    if not isinstance(value, float):
        raise SettingTypeError(f"{owner}: {name} must be a float, got {type(value).__name__} {value!r}")
    if not 0 <= value <= 1 or (value == 0 and not low) or (value == 1 and not high):
        raise SettingError(
            f"{owner}: {name} must be {'at least' if low else 'above'} 0 and {'at most' if high else 'below'} 1, "
            f"got {value!r}"
        )


def rest(share: float) -> float:
    """``1 - share``, as a graph computes it."""
    result: float = arithmetic("-", 1, share)
    return result


def when(test: Any, first: Callable[[], Any], second: Callable[[], Any] = lambda: None) -> None:
    """Calls ``first`` if ``test`` holds, else ``second``; in a graph, a branch that gives nothing."""
    branch(test, lambda: (first(), ())[1], lambda: (second(), ())[1], (), ())


class Optimizer(Cell):
    """Base of the optimizers of ``mindspore.experimental``; a subclass defines ``construct(gradients)``.

    Args:
        params: parameters, or groups: dicts with ``params`` and any of the settings.
        defaults: the settings of a group that does not name them; ``lr`` is one (float, int or 0-d tensor).

    Attributes:
        param_groups: a dict for each group: ``params``, the settings, and ``lr`` as a float32 Parameter.
        parameters: parameters of all groups, in the order of the gradients.
        lrs: the Parameters of the learning rates, ``learning_rate_group_0`` ...

    Raises:
        SettingError, SettingTypeError: no parameters, what is not a Parameter, a parameter in two groups, a negative
            rate or decay.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        if params is None:
            raise SettingError(f"{self.cls_name}: params must not be None")
        if not isinstance(params, Iterable):
            raise SettingTypeError(f"{self.cls_name}: params must be parameters or dicts, got {type(params).__name__}")
        given = list(params)
        if not given:
            raise SettingError(f"{self.cls_name}: params must not be empty (does the network have trainable ones?)")
        self.defaults = defaults
        self.state: dict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.parameters: Any = ()
        self.lrs: list[Parameter] = []
        self.group_start_id = [0]
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)
        self.parameters = ParameterTuple(self.parameters)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            for key in sorted(group.keys() - {"params"}):
                value = group[key]
                lines.append(f"    {key}: {value.value() if key == 'lr' and isinstance(value, Parameter) else value}")
        return "\n".join(lines) + "\n)"

    __str__ = __repr__

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group: a dict with ``params`` (one Parameter or several) and any of the settings."""
        if not isinstance(param_group, dict):
            raise SettingTypeError(f"{self.cls_name}: a group must be a dict, got {type(param_group).__name__}")
        param_group["params"] = self._members(param_group["params"])
        self.parameters += tuple(param_group["params"])
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        param_group["lr"] = self._rate(param_group.get("lr"), f"learning_rate_group_{len(self.param_groups)}")
        decay = param_group.get("weight_decay", 0.0)
        if not isinstance(decay, (float, int)):
            raise SettingTypeError(f"{self.cls_name}: weight_decay must be a number, got {type(decay).__name__}")
        param_group["weight_decay"] = float(checks.number(float(decay), "weight_decay", self.cls_name, 0))
        self.lrs.append(param_group["lr"])
        self.param_groups.append(param_group)
        self.group_start_id.append(self.group_start_id[-1] + len(param_group["params"]))

    def _members(self, given: Any) -> list[Parameter]:
        if isinstance(given, set):
            raise SettingTypeError(f"{self.cls_name}: params must be in an order; give a list in place of the set")
        members = [given] if isinstance(given, Parameter) else list(given)
        for member in members:
            if not isinstance(member, Parameter):
                raise SettingTypeError(f"{self.cls_name}: params must be Parameters, got {type(member).__name__}")
        known = {id(member) for group in self.param_groups for member in group["params"]}
        for member in members:
            if id(member) in known:
                raise SettingError(f"{self.cls_name}: {member.name} is in more than one group")
        return members

    def _rate(self, rate: Any, name: str) -> Parameter:
        if isinstance(rate, Tensor):
            if rate.ndim:
                raise SettingError(f"{self.cls_name}: lr must have no dimension, got shape {rate.shape}")
            return Parameter(Tensor(rate.asnumpy(), dtypes.float32), name)
        if not isinstance(rate, (float, int)):
            raise SettingTypeError(f"{self.cls_name}: lr must be a number or a Tensor, got {type(rate).__name__}")
        value = float(checks.number(float(rate), "lr", self.cls_name, 0))
        return Parameter(Tensor(value, dtypes.float32), name)

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: bool = True
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = super()._bind(args, kwargs, defaults)
        # The gradients are inputs of the graph, mutable or not (measured).
        return tuple(map(mutable, args)), kwargs

    def construct(self, *hyper_params: Any) -> Any:
        """The update; a subclass defines it."""
        raise CellAttributeError(f"{self.cls_name} does not define the method 'construct'")

    # -- for subclasses --------------------------------------------------------------------------------------------
    def _each_group(self) -> Iterable[tuple[int, dict[str, Any], Any]]:
        """Number, settings and learning rate of each group; a float that a user put there is cast."""
        for number, group in enumerate(self.param_groups):
            rate = group.get("lr")
            yield number, group, ops.cast(rate, dtypes.float32) if isinstance(rate, float) else self.lrs[number]

    def _group(self, number: int, members: Sequence[Any]) -> tuple[Any, ...]:
        """Those of ``members`` (one for each parameter) that belong to a group."""
        return tuple(members[self.group_start_id[number] : self.group_start_id[number + 1]])

    def _signed(self, number: int, gradients: Sequence[Any], maximize: bool) -> tuple[Any, ...]:
        """The gradients of a group, negated where the objective grows."""
        own = self._group(number, gradients)
        return tuple(ops.neg(gradient) for gradient in own) if maximize else own

    @staticmethod
    def _decayed(decay: float, params: Sequence[Any], gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """``decay`` times each parameter added to its gradient."""
        if decay == 0.0:
            return gradients
        factor = Tensor(decay, dtypes.float32)
        return tuple(
            ops.AddN()((ops.Mul()(parameter, ops.cast(factor, parameter.dtype)), gradient))
            for parameter, gradient in zip(params, gradients, strict=True)
        )
