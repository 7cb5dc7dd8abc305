"""Follows ``construct`` and writes down the graph it describes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from harness.errors import HarnessError, TraceError
from harness.framework import frames
from harness.framework.compile.callers import Around
from harness.framework.compile.closure import Closure
from harness.framework.compile.closures import Closures
from harness.framework.compile.constants import Constants
from harness.framework.compile.controls import Controls
from harness.framework.compile.effects import computed_from
from harness.framework.compile.functions import COMPOSED, EACH, PLACED_LATE, FunctionScopes
from harness.framework.compile.known import Known
from harness.framework.compile.reads import reads
from harness.framework.compile.regions import Block, Region
from harness.framework.compile.repeated import Repeated
from harness.framework.compile.rewriting import ask_again
from harness.framework.compile.source import stack, users_frame, where
from harness.framework.compile.spread import Calls
from harness.framework.compile.states import States
from harness.framework.compile.structure import Structure, is_held, taken_apart
from harness.framework.compile.traced import Traced, has_tensor, in_graph, is_weight, operands_of, tensor_spec
from harness.framework.ops import random, taken
from harness.framework.ops.base import OPERATORS, Call, Operator
from harness.framework.ops.eager import is_number, plan_arguments
from harness.framework.tensor import Parameter as ParameterTensor
from harness.framework.tensor import Tensor, gives_as_graph, is_eager
from harness.graph import (
    Const,
    Node,
    NodeExtra,
    Operand,
    Parameter,
    Spec,
    TensorSpec,
    TupleSpec,
    U,
    constant,
    printed_order,
    spec_of,
)

#: operators of the graph itself, which have no kernel
VIRTUAL = frozenset(
    {"Argument", "Load", "Depend", "MakeTuple", "TupleGetItem", "UpdateState", "Return", "Switch", "CustomBackward"}
)


class Tracer(Controls):
    """The dispatcher in force while a function is traced.

    Attributes:
        scope: where new nodes stand (``Default/fc1-Dense``).
        cell: the scope of the cell that runs, whatever function of the library it is in.
        states: reads and updates of parameters.
        params: the graph parameter of each ``Parameter`` met, in order of first use.
        handed: names of the arguments that are parameters.
        source: stack given to nodes in place of the real one while a gradient is written; None otherwise.
        marks: attributes given to every new node (``set_dump``).
        closures: the function graphs the nodes are written in.
        functions: the scopes of the functions called.
        constants: what tensors that are not arguments became.
        created: every operator's node, in program order.
        looked_up: the nodes of each gradient so far, and the scope of the gradients of each primitive.
        of_gradients: those that calls of a gradient function wrote, the function's own too.
        pinned: where every new node stands, whichever cell or function calls it; None if that decides.
        parameters_refused: what cannot use a parameter at the moment; None if everything can.
        at_the_end: called when the gradient that is being written is complete.
        known: the values of what is traced, in PyNative mode.
        stop: the frame that began the tracing: those around it are not part of the graph.
        named: by weight, the cell that first handed it to another one.
        summaries: kind, tag and value of what summary operators were given.
        exchanged: attributes that stand for other values until the graph ends, by their owners.
        structure: of the finished function's result.
        around: the lists and dicts that the function takes from around it.
        of_cell: whether a cell is traced that runs in graph mode.
        decided: what Python decided by until the first decision that is a loop's or leaves one or a function, and how
            many operators were traced until then; None without such a decision.
    """

    def __init__(self, scope: str = "Default") -> None:
        self.scope = self.cell = scope
        self.states = States(self.virtual)
        self.params: dict[int, Parameter] = {}
        self.handed: dict[int, str] = {}
        self.named: dict[int, str] = {}
        self.source: tuple[str, tuple[Any, ...]] | None = None
        self.marks: dict[str, Any] = {}
        self.created, self.of_gradients = list[Node](), list[Node]()
        self.looked_up: list[tuple[list[Node], dict[Any, str]]] = []
        self.pinned: str | None = None
        self.parameters_refused: str | None = None
        self.known: Known | None = None
        self.at_the_end: list[Callable[[], None]] = []
        self.summaries: list[tuple[str, str, Any]] = []
        self.exchanged: list[tuple[Any, str]] = []
        self.summed: Node | None = None
        self.structure: Structure | None = None
        self.around: Around | None = None
        self.of_cell = False
        self.decided: tuple[list[Operand], int | None] = [], None
        self.repeated, self.spread = Repeated(), Calls()
        self.constants = Constants()
        self.stop = frames.caller()
        self.closures = Closures(self.stop)
        self.functions = FunctionScopes(self.stop)
        self.region = Region()
        self.block = self._outermost = Block([self.region])

    # -- dispatcher ------------------------------------------------------------------------------------------------
    def call(self, op: str, args: tuple[Any, ...], attrs: dict[str, Any], scope: str | None) -> Any:
        """Adds the node of one operator call; see ``Dispatcher.call``."""
        if op == "Depend":
            return self.depend(args[0], args[1])
        try:
            return self._add(OPERATORS.get(op), args, attrs, scope)
        except HarnessError as error:
            if not error.placed:
                error.placed = True
                error.args = (f"{error.args[0] if error.args else error} -- at {where()}", *error.args[1:])
            raise

    def _add(self, operator: Operator, args: tuple[Any, ...], attrs: dict[str, Any], scope: str | None) -> Any:
        effect = operator.effect([None if isinstance(a, Tensor) else a for a in args])
        closure = self._closure(operator.name)
        before, mark = len(closure.effects), self.states.mark()
        inputs, call, layout = self._arguments(operator, args, attrs, effect is not None)
        taken.check(call)
        if scope is None:
            scope = self.pinned or (self.scope if self.source is not None else self._users_scope())
        extra = NodeExtra(layout, operator.functional, operator.absent, region=self.region)
        extra.closure, extra.effects_before, extra.inside = closure, before, self.functions.inside
        spec = operator.infer(call)
        taken.check_kernel(call)
        if operator.name in random.CONTINUING and random.is_alone():
            extra.stream = random.state_of(replace(call, out=spec))
        node = Node(operator.name, inputs, {**attrs, **self.marks}, scope, spec, extra=extra)
        closure.nodes.append(node)
        if self.states.together(mark, node):
            closure.affect(None)
        self._place(node)
        self.created.append(node)
        if effect is not None:
            node.extra.effect = effect
            if effect == "io":
                self.states.print(node)
            else:
                self._update(node, [inputs[at] for at in operator.mutates], operator.gives_memory)
                closure.affect(node)
        return self.unpack(node)

    def _update(self, node: Node, targets: list[Operand], gives_memory: bool) -> None:
        """Notes an update. A target that is not a parameter is read like one from then on, and by those that took it
        before; so is the result where it is the target's memory."""
        at = len(self.created) - 1
        for target in targets:
            root = self.states.root(target)
            self.constants.change(root)
            if not is_weight(root) and not self.states.is_changed(root):
                self.states.refer(root, root)
                self.constants.leave_folded(root, self.created[:-1])
                users = [(n, user) for n, user in enumerate(self.created[:-1]) if self._takes(user, root)]
                self.states.read_before(root, users, self.region)
        if gives_memory:
            self.states.refer(node, targets[0])
        self.states.update(node, targets, at)

    def decide(self, operand: Operand, goes_on: bool) -> None:
        """Notes that Python asks for the truth of ``operand``; ``goes_on``: neither for a loop nor for what leaves one
        or a function."""
        conditions, count = self.decided
        if count is None:
            self.decided = [*conditions, operand], None if goes_on else len(self.created)

    def unreached(self, inputs: Sequence[Parameter], result: Operand) -> frozenset[int] | None:
        """Those of ``inputs`` (by ``id``) that no operator in front of the first decision takes that is a loop's, or
        leaves one or a function: a change in place does not reach the caller's tensor then. What is unused counts for
        nothing.

        Held by tests/data/programs/decided_in_place.txt, measured with MindSpore 2.10.0.
        """
        conditions, count = self.decided
        if count is None:
            return None
        effects = [node for node in self.created if node.extra.effect is not None]
        used = computed_from([result, *conditions, *effects])
        first = [node for node in self.created[:count] if id(node) in used]
        return frozenset(id(each) for each in inputs if not any(reads(node, each) for node in first))

    def knows(self, arguments: Mapping[int, Any]) -> None:
        """Lets values be asked for while tracing; ``arguments`` as ``Known`` takes them."""
        self.known = Known(arguments, self.states.before)

    def _takes(self, user: Node, operand: Operand) -> bool:
        """Whether an operator of this region reads ``operand``; one that changes memory takes it as it is."""
        here = user.extra.region is self.region and user.extra.effect != "memory"
        return here and any(i is operand for i in user.inputs)

    def _arguments(
        self, operator: Operator, args: tuple[Any, ...], attrs: dict[str, Any], updates: bool
    ) -> tuple[list[Operand], Call, tuple[int | None, ...]]:
        """The arguments of a call as flat inputs, as its shape rule sees them, and how many inputs make up each (None:
        one that is not a tuple of tensors)."""
        inputs: list[Operand] = []
        specs: list[Spec] = []
        values: list[Any] = []
        layout: list[int | None] = []
        for given, (value, cast) in zip(args, plan_arguments(operator, tuple(map(in_graph, args))), strict=True):
            if cast is not None:
                value = self.call("Cast", (value, cast), {}, None)
                value.operand.extra.cast = "implicit"
            if isinstance(value, (tuple, list)) and any(isinstance(v, Tensor) for v in value):
                members = [self.operand(v, updates) for v in value]
                inputs += members
                layout.append(len(members))
                specs.append(TupleSpec(tuple(tensor_spec(m) for m in members)))
                values.append(None)
                continue
            is_literal = isinstance(value, Tensor) and not isinstance(given, Tensor)
            operand = self.constants.of_array(value.asnumpy()) if is_literal else self.operand(value, updates)
            inputs.append(operand)
            layout.append(None)
            specs.append(tensor_spec(operand))
            values.append(operand.value if isinstance(operand, Const) else None)
        return inputs, Call(operator.name, tuple(specs), tuple(values), attrs), tuple(layout)

    def _place(self, node: Node) -> None:
        if self.source is not None:
            node.related_kind, node.related = self.source
        else:
            node.source = stack(self.stop)

    def unpack(self, node: Node) -> Any:
        """The traced value (or tuple of values) of a node."""
        if not isinstance(node.spec, TupleSpec):
            return Traced(node, node.spec)
        items = []
        for i, spec in enumerate(node.spec.items):
            item = self.virtual("TupleGetItem", [node, constant(i)], spec)
            item.scope, item.extra.closure = node.scope, node.extra.closure
            items.append(Traced(item, spec))
        return tuple(items)

    def virtual(self, op: str, inputs: list[Operand], spec: Spec) -> Node:
        """A node of the graph itself, in the current scope."""
        extra = NodeExtra(layout=(None,) * len(inputs), functional=False, region=self.region)
        extra.closure = self._closure()
        return Node(op, inputs, {}, self.scope, spec, kernel=False, extra=extra)

    def _closure(self, op: str = "") -> Closure:
        """Where a node is written; the nodes of a gradient stand in none of the function's closures."""
        return self.closures.root if self.source is not None else self.closures.current(op)

    def depend(self, value: Any, on: Any) -> Any:
        """``value``, available only after ``on``; what no graph holds is not waited for, and does not wait."""
        if is_held(value):
            return value
        changed = isinstance(value, Traced) and self.states.is_changed(value.operand)
        operand = self.operand(value, updates=changed)
        if is_held(on) or callable(on):  # no graph holds it: there is nothing to wait for
            return Traced(operand, operand.spec)
        spec = operand.spec
        return Traced(self.virtual("Depend", [operand, self.operand(on)], spec), spec)

    def assign_items(self, target: Tensor, index: Any, value: Any) -> None:
        """``target[index] = value``: in PyNative mode of the tensor itself, else of the name it has there,
        which takes another reading of its function."""
        if isinstance(target, Traced) and not gives_as_graph():
            target.operand = target.with_items(index, value).operand
            if target.taken_from is not None:
                self.assign_items(*target.taken_from, target)
            return
        ask_again(users_frame())
        raise TraceError(
            f"elements of a tensor that is not a name of the function's own are assigned at {where()}, which cannot be "
            "part of a graph; accepted: name[index] = value"
        )

    def exchange(self, owner: Any, name: str, value: Any) -> None:
        """``owner.name``, a parameter, stands for ``value`` until the graph ends."""
        if self.block is not self._outermost:
            raise TraceError(
                f"elements of the parameter {name!r} are assigned within control flow on a tensor, at {where()}, by an "
                "index that MindSpore does not store; accepted there: ints, tensors, lists, and tuples with them"
            )
        owner.__dict__[name] = value
        self.exchanged.append((owner, name))

    def has_exchanged(self, owner: Any, name: str) -> bool:
        """Whether it was called for this attribute."""
        return any(each is owner and attribute == name for each, attribute in self.exchanged)

    def summarize(self, kind: str, tag: str, value: Any) -> None:
        """Notes what a summary operator is given; the result waits for it."""
        if self.block is not self._outermost:
            raise TraceError(f"{kind}Summary inside control flow on a tensor is not supported, at {where()}")
        self.summaries.append((kind, tag, value))

    # -- functions -------------------------------------------------------------------------------------------------
    @contextmanager
    def function_scope(self, key: Any) -> Iterator[None]:
        """Puts new nodes into the scope of the function ``key`` (see ``FunctionScopes``)."""
        if self.pinned is not None:
            yield
            return
        before, made, caller = self.scope, len(self.created), self._users_scope()
        self.scope, of_one = self.functions.enter(key, caller)
        self.functions.inside += 1
        try:
            yield
            mine = self.created[made:]
            is_one = sum(node.extra.cast is None for node in mine) == 1  # beside casts that align its operands
            for node in mine:
                # Those of a function further in have the scope of that one, and some have one they always stand in.
                is_own = node.extra.inside == self.functions.inside and node.scope == self.scope
                if is_own and (is_one or key in COMPOSED):
                    node.extra.homeless = node.scope == "Default" != of_one
                    node.scope = of_one
                if key in EACH:
                    node.scope, node.extra.homeless = self.functions.enter_each(key, node, caller), False
                if key in PLACED_LATE:
                    node.extra.homeless = self.functions.inside == 1  # that within ops.logsumexp is not
            if self.scope == "Default":
                self.spread.add(key, mine, caller)
        finally:
            self.scope = before
            self.functions.inside -= 1

    def _users_scope(self) -> str:
        """The current scope; while no function of the library runs, that of the user's function which does."""
        return self.scope if self.functions.inside else self.functions.of_users(self.scope)

    # -- operands --------------------------------------------------------------------------------------------------
    def operand(self, value: Any, updates: bool = False) -> Operand:
        """The graph's form of an argument; tuples with tensors become ``MakeTuple``.

        Args:
            value: tensor, parameter, number, dtype, string, None, or a tuple of such.
            updates: it is for an operator with a side effect or the result, which take a parameter (or what was changed
                in place) itself, not what is read of it.
        """
        if isinstance(value, Traced):
            changed = self._reads(value.operand) and not updates
            return self.states.read(value.operand, self.region, len(self.created)) if changed else value.operand
        if isinstance(value, ParameterTensor):
            return self.parameter(value) if updates else self.load(value)
        if isinstance(value, Tensor):
            return self.constants.of_tensor(value)
        if isinstance(value, (tuple, list)) and has_tensor(value):
            members = [self.operand(v, updates) for v in value]
            return self.virtual("MakeTuple", members, TupleSpec(tuple(m.spec for m in members)))
        if value is None or is_number(value) or isinstance(value, (tuple, list, str)) or hasattr(value, "proto"):
            return Const(plain := in_graph(value), spec_of(plain))
        raise TraceError(
            f"a value of type {type(value).__name__} cannot be part of a graph, at {where()}; accepted: tensors, "
            "numbers, strings, dtypes, None, and tuples and lists of them"
        )

    def _reads(self, operand: Operand) -> bool:
        """Whether taking ``operand`` is a read of memory; a gradient takes it as it is (measured)."""
        return self.source is None and self.states.is_changed(operand)

    def parameter(self, tensor: ParameterTensor) -> Parameter:
        """The graph parameter of a weight."""
        if self.parameters_refused is not None:
            raise TraceError(
                f"{self.parameters_refused}, got {tensor.name!r}, at {where()}; hand it over as an argument"
            )
        if id(tensor) not in self.params:
            if not is_eager() and any(p.name == tensor.name for p in self.params.values()):
                told = f"two parameters of one graph are named {tensor.name!r}, at {where()}; give each its own name"
                raise TraceError(told)
            spec = TensorSpec(tensor.dtype, tensor.shape, ref_key=tensor.name)
            self.params[id(tensor)] = Parameter(self.handed.get(id(tensor), tensor.name), spec, True, handle=tensor)
            if id(tensor) in self.handed:
                self.states.handed.add(id(self.params[id(tensor)]))
        return self.params[id(tensor)]

    def read(self, value: Any) -> Any:
        """See ``harness.framework.tensor.read``."""
        if not isinstance(value, ParameterTensor):
            return value
        self._closure().affect(None)
        self.named[id(value)] = self.cell  # a cast reads a weight where it stands (measured)
        return self._here(value)

    def reference(self, value: Any) -> Any:
        """See ``harness.framework.tensor.reference``."""
        if not isinstance(value, ParameterTensor):
            return value
        return Traced(self.parameter(value), TensorSpec(value.dtype, value.shape))

    def load(self, tensor: ParameterTensor) -> Node:
        """The read of a weight; one node for all reads between two updates of it."""
        read = self.states.read(self.parameter(tensor), self.region, len(self.created))
        if read.extra.cell is None:
            # A cell without a scope of its own reads in Default, whichever cell had the weight (nn.LSTM with lengths).
            read.extra.cell = self.cell if self.cell == "Default" else self.named.get(id(tensor), self.cell)
        return read

    def forget_unused(self, out: Any, weights: Iterable[ParameterTensor], made: int, reads: int) -> None:
        """Forgets the reads that ``out``, the result of a function whose gradient is taken, and effects do not need
        (see ``States.forget``). Each of ``weights`` that is unused is read for zeros of its shape: other reads are
        placed beside those, which are known later and go (measured)."""
        if len(self._outermost.items) > 1:
            return  # what another region takes is used, too
        effects = [node for node in self.created if node.extra.effect is not None]
        used = computed_from([*operands_of(out), *operands_of([each[2] for each in self.summaries]), *effects])
        self.states.forget(used, made, reads)
        parameters = [self.parameter(weight) for weight in weights]
        self.states.read_for_zeros([(each, id(each) not in used) for each in parameters], self.region)

    def name(self, value: Any) -> None:
        """Notes the cell that hands ``value`` on, if it is a weight."""
        if isinstance(value, ParameterTensor):
            self.named.setdefault(id(value), self.cell)

    def finish(self, value: Any) -> Operand:
        """The operand of ``Return``: the result after every effect."""
        value, self.structure = taken_apart(value)
        operand = self.operand(value, updates=True)
        self.closures.finish()
        self.spread.place_behind(operand, self.created)
        if self.summaries:
            values = [self.operand(each) for _kind, _tag, each in self.summaries]
            self.summed = self.virtual("MakeTuple", values, TupleSpec(tuple(v.spec for v in values)))
            operand = self.virtual("Depend", [operand, self.summed], operand.spec)
        if self.states.io_state is not None:
            operand = self.virtual("Depend", [operand, self.states.io_state], operand.spec)
        state = self.states.flush()
        if state is not U:
            operand = self.virtual("Depend", [operand, state], operand.spec)
        result = self.block.result = self.virtual("MakeTuple", [operand], TupleSpec((operand.spec,)))
        self.constants.settle(lambda: [*self.created, *printed_order(result)])
        self.leave()
        return result

    def leave(self) -> None:
        """Ends tracing and releases the frames, and what calls gave."""
        self.stop, self.repeated = None, Repeated()
        self.closures.leave()
        self.functions.leave()
