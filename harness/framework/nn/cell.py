"""``Cell``: a network or a part of one, as ``mindspore.nn.Cell``.

Source of its rules: MindSpore 2.10.0, measured (``tests/data/nn/names.json``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from harness import dtypes
from harness.dtypes import DType
from harness.errors import CellAttributeError, CellNameError, SettingAttributeError, SettingError, SettingTypeError
from harness.framework import kinds
from harness.framework.compile.cells import Described
from harness.framework.compile.source import made_at
from harness.framework.names import complete
from harness.framework.names.absent import refuse_value
from harness.framework.nn import naming, precision, text
from harness.framework.nn.buffers import Buffers
from harness.framework.nn.calls import Calls
from harness.framework.nn.jit_config import JitConfig
from harness.framework.nn.refused import Refusals
from harness.framework.nn.settings import Settings
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import Parameter, ParameterTuple, Tensor, is_tracing

_FLOAT_FLAGS = {"fp16": dtypes.float16, "fp32": dtypes.float32, "bf16": dtypes.bfloat16}

#: whose cells are layers: the user's own classes lie elsewhere
_LAYERS = __name__.partition(".")[0] + "."


class Cell(Calls, Buffers, Settings, Refusals, Described):
    """Base of every network; subclass it, attach parts in ``__init__``, compute in ``construct``.

    Args:
        auto_prefix: whether attaching a child prefixes the names of its parameters with the attribute's name.
        flags: flags set at once (``add_flags``).

    Attributes:
        training: whether layers that differ in training behave so (``set_train``).
        requires_grad: set by ``set_grad``; kept.
    """

    #: parameters are used unchanged even if ``to_float`` casts the rest (operators that write to them)
    _casts_parameters: ClassVar[bool] = True

    _params: OrderedDict[str, Parameter | None]
    _cells: OrderedDict[str, Cell | None]

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        state = self.__dict__
        state["_params"] = OrderedDict()
        state["_cells"] = OrderedDict()
        state["_buffers"], state["_passing_buffers"] = OrderedDict(), set()
        state["_primitives"] = OrderedDict()
        state["_flags"] = {}
        state["_auto_prefix"] = auto_prefix
        # A cell made while a graph is traced stands outside every cell (measured: nn.LSTM's steps).
        state["_scope"] = "Default" if is_tracing() else None
        state["_phase"] = "train"
        state["_float_dtype"] = None
        state["_running"] = 0
        state["_made_at"] = made_at(self)
        state["_anonymous"] = 0
        state["_names_checked"] = False
        state["_dynamic_inputs"] = None
        state["_jit_config"] = None
        state["training"] = False
        state["requires_grad"] = False
        if flags:
            self.add_flags(**flags)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith(__name__.rpartition(".")[0]):
            name = f"nn.{cls.__name__}"
            kinds.guard(cls, name)
            cls._refused = kinds.refused(f"{name}()", cls.__name__, cls.construct, 1)
        elif "construct" in vars(cls):
            cls._refused = None

    # -- attributes ------------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        parameters = state.get("_params", {})
        if name in parameters:
            return self._own_parameter(parameters[name])
        cells = state.get("_cells", {})
        if name in cells:
            return cells[name]
        if name in state.get("_buffers", {}):
            return self._buffers[name]
        if "_params" not in state:
            raise CellAttributeError(
                f"{type(self).__name__} has no attribute {name!r}: call super().__init__() before anything else"
            )
        refuse_value(type(self), name)
        raise CellAttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'.")

    def _own_parameter(self, parameter: Parameter | None) -> Any:
        wanted = self._float_dtype
        if parameter is None or wanted is None or not self._running or not self._casts_parameters:
            return parameter
        value = precision.cast(parameter, wanted)
        if value is not parameter:
            value.cast_of = parameter  # writers of the parameter find it
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._detach(name)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            self._attach_parameters(name, value)
        elif isinstance(value, Cell):
            self._require_init()
            self._detach(name)
            if self._auto_prefix:
                value.update_parameters_name(name + ".")
            self.insert_child_to_cell(name, value)
        elif isinstance(value, Primitive):
            self._require_init()
            self._primitives[name] = value
            value.instance_name = name
            object.__setattr__(self, name, value)
        else:
            self._set_plain(name, value)

    def _require_init(self) -> None:
        if "_params" not in self.__dict__:
            raise CellAttributeError(f"{type(self).__name__}: call super().__init__() before attaching anything")

    def _detach(self, name: str) -> None:
        self.__dict__.pop(name, None)

    def _attach_parameters(self, name: str, members: ParameterTuple) -> None:
        self._require_init()
        known: dict[str, int] = {}
        for member in members:
            if not member.named:
                self._anonymous += 1
                naming.rename(member, f"Parameter${self._anonymous}")
            if known.setdefault(member.name, id(member)) != id(member):
                raise SettingError(
                    f"{type(self).__name__}.{name}: two parameters are named {member.name!r}; give each its own name"
                )
            self._insert_parameter(member.name, member)
        object.__setattr__(self, name, members)

    def _set_plain(self, name: str, value: Any) -> None:
        parameters = self.__dict__.get("_params", {})
        cells = self.__dict__.get("_cells", {})
        if name in parameters:
            if isinstance(value, Tensor) and parameters[name] is not None:
                self._write_parameter(parameters[name], value)
            elif value is None:
                parameters[name] = None
            else:
                raise SettingTypeError(
                    f"{type(self).__name__}.{name} is a parameter; assign a Parameter, a Tensor or None to it, "
                    f"not {type(value).__name__}"
                )
        elif name in cells:
            if value is not None:
                raise SettingTypeError(
                    f"{type(self).__name__}.{name} is a cell; assign a Cell or None to it, not {type(value).__name__}"
                )
            cells[name] = None
        elif name in self.__dict__.get("_buffers", {}):
            self._refuse_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    @staticmethod
    def _write_parameter(parameter: Parameter, value: Tensor) -> None:
        """``self.weight = tensor``: an assignment of data outside a graph, an ``Assign`` within one."""
        if is_tracing():
            from harness.framework.tensor import call

            call("Assign", parameter, value)
        else:
            parameter.set_data(value)

    def __delattr__(self, name: str) -> None:
        for holder in (self._params, self._cells, self._buffers):
            if name in holder:
                del holder[name]
                return
        object.__delattr__(self, name)

    # -- parameters and children -----------------------------------------------------------------------------------
    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Attaches a parameter; ``CellNameError`` if the name is taken or has a dot."""
        self._require_init()
        if check_name_contain_dot:
            naming.check_child_name(param_name, f"{type(self).__name__}.insert_param_to_cell")
        self._insert_parameter(param_name, param)

    def _insert_parameter(self, name: str, param: Parameter | None) -> None:
        if param is not None and not isinstance(param, Parameter):
            raise SettingTypeError(f"{type(self).__name__}.{name}: expected a Parameter, got {type(param).__name__}")
        if name not in self._params and hasattr(self, name):
            raise CellNameError(f"{type(self).__name__} has an attribute {name!r} already; a parameter cannot take it")
        if param is not None and not param.named:
            naming.rename(param, name)
        self._params[name] = param

    def insert_child_to_cell(self, child_name: str, child_cell: Cell | None) -> None:
        """Attaches a child, leaving names of parameters alone; ``CellNameError`` if its name is taken or has a dot."""
        self._require_init()
        naming.check_child_name(child_name, f"{type(self).__name__}.insert_child_to_cell")
        if child_name not in self._cells and hasattr(self, child_name):
            raise CellNameError(f"{type(self).__name__} has an attribute {child_name!r} already; "
                                "a child cell cannot take it")  # fmt: skip
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise SettingTypeError(
                f"{type(self).__name__}.{child_name}: expected a Cell, got {type(child_cell).__name__}"
            )
        self._cells[child_name] = child_cell

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Every parameter once, with its path."""
        return naming.parameters(self, name_prefix, expand)

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Every parameter once; with ``expand`` False only this cell's own."""
        return (parameter for _, parameter in naming.parameters(self, expand=expand))

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Parameters by name."""
        return OrderedDict((p.name, p) for p in self.get_parameters(recurse))

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters that require a gradient."""
        return [p for p in self.get_parameters(recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that require no gradient."""
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Names every parameter ``prefix`` + its path."""
        naming.prefix_parameters(self, prefix, recurse)

    def check_names(self) -> None:
        """``SettingError`` if two parameters have one name."""
        naming.refuse_duplicates(self)

    def check_names_and_refresh_name(self) -> None:
        """Renames parameters by their paths if names collide; ``SettingError`` if they still do."""
        naming.check_unique(self)

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """Does nothing: a parameter has its data from the start."""
        return {}

    def cells(self) -> Any:
        """Child cells."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """Child cells by name, each once."""
        found: OrderedDict[str, Cell] = OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and not any(cell is other for other in found.values()):
                found[name] = cell
        return found

    def cells_and_names(self, cells: Any = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This cell and all below, with paths; ``cells``, and what is below them, are left out."""
        return naming.walk(self, name_prefix, {id(cell) for cell in cells or ()})

    def apply(self, fn: Callable[[Cell], Any]) -> Cell:
        """Calls ``fn`` on every cell below and on this one; returns self."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # -- scopes ----------------------------------------------------------------------------------------------------
    def generate_scope(self) -> None:
        """Gives every cell below that has none its scope; called when this cell is compiled."""
        for scope, cell in self._scopes_below():
            cell._set_scope(scope)

    def _scopes_below(self) -> Iterator[tuple[str, Cell]]:
        """The scopes that the cells below would be given, had they none."""
        return naming.scopes(self)

    def _set_scope(self, scope: str) -> None:
        if self._scope is None:
            self.__dict__["_scope"] = scope

    def places(self) -> dict[str, str]:
        """Where the layers below were made: ``file.py:17`` by scope; empty for cells of the user's own classes, because
        their code stands in lines of its own."""
        return {
            scope: cell.__dict__["_made_at"] if type(cell).__module__.startswith(_LAYERS) else ""
            for scope, cell in self._scopes_below()
        }

    def get_scope(self) -> str | None:
        """Scope; None before a cell above was compiled."""
        scope: str | None = self._scope
        return scope

    # -- flags -----------------------------------------------------------------------------------------------------
    def add_flags(self, **flags: Any) -> Cell:
        """Sets flags, which also become attributes; returns self."""
        self._flags.update(flags)
        self.__dict__.update(flags)
        for name, dtype in _FLOAT_FLAGS.items():
            if flags.get(name):
                self.__dict__["_float_dtype"] = dtype
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Sets flags here and below; returns self."""
        self.add_flags(**flags)
        for cell in self.cells():
            cell.add_flags_recursive(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """Flags set so far."""
        flags: dict[str, Any] = self._flags
        return flags

    def set_train(self, mode: bool = True) -> Cell:
        """Switches layers that differ in training, here and below; returns self."""
        self.__dict__["_phase"] = "train" if mode else "predict"
        self.add_flags_recursive(training=mode)
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Kept for scripts; gradients need no such mark here. Returns self."""
        self.requires_grad = requires_grad
        return self

    def to_float(self, dst_type: DType) -> Cell:
        """Lets this cell and all below compute in ``dst_type``: arguments and parameters of a floating dtype are
        cast on use. Returns self; ``SettingError`` unless float16, float32 or bfloat16."""
        if dst_type not in (dtypes.float16, dtypes.float32, dtypes.bfloat16):
            raise SettingError(f"to_float: the dtype must be float16, float32 or bfloat16, got {dst_type!r}")
        self.add_flags_recursive(**{name: dtype is dst_type for name, dtype in _FLOAT_FLAGS.items()})
        return self

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declares the arguments' shapes, with dynamic dimensions, for compilation."""
        if not inputs and not kwargs:
            return
        if inputs and kwargs:
            raise SettingError("set_inputs takes positional or keyword arguments, not both")
        declared, _ = self._bind(inputs, kwargs, defaults=False)
        self.__dict__["_dynamic_inputs"] = declared

    def get_inputs(self) -> Any:
        """The inputs declared by ``set_inputs``; None if there are none."""
        return self._dynamic_inputs

    def set_jit_config(self, jit_config: Any) -> None:
        """Kept; there is one way of compiling here. ``SettingAttributeError`` unless it is a ``JitConfig``."""
        if not isinstance(jit_config, JitConfig):
            raise SettingAttributeError(f"set_jit_config takes a JitConfig, got {type(jit_config).__name__}")
        self.__dict__["_jit_config"] = jit_config

    @property
    def phase(self) -> str:
        """``train`` or ``predict``."""
        phase: str = self._phase
        return phase

    @phase.setter
    def phase(self, value: str) -> None:
        if not isinstance(value, str):
            raise SettingTypeError(f"{type(self).__name__}.phase must be a str, got {type(value).__name__}")
        self.__dict__["_phase"] = value

    @property
    def cls_name(self) -> str:
        """Name of the class."""
        return type(self).__name__

    # -- text ------------------------------------------------------------------------------------------------------
    def extend_repr(self) -> str:
        """Settings shown between the brackets of ``repr``."""
        return ""

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return text.tree_text(self)

    __str__ = __repr__


kinds.guard_methods(Cell, "Cell")
complete(Cell)
