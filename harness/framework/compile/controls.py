"""Control flow on tensors while a graph is traced: branches and loops become kernel graphs of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.errors import TraceError
from harness.framework.compile.closures import Closures
from harness.framework.compile.regions import Block, Control, Region
from harness.framework.compile.source import where
from harness.framework.compile.states import States
from harness.framework.compile.traced import Traced, has_tensor, tensors_of
from harness.framework.tensor import Dispatcher, is_eager
from harness.graph import Node, NodeExtra, Operand, Parameter, Spec, TupleSpec, U


class Controls(Dispatcher):
    """Mixed into ``Tracer``."""

    scope: str
    block: Block
    region: Region
    states: States
    closures: Closures
    operand: Callable[..., Operand]
    unpack: Callable[[Node], Any]

    def branch(
        self, pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: tuple[Any, ...]
    ) -> Any:
        """See ``Dispatcher.branch``; each side becomes kernel graphs of its own, in PyNative mode one is taken."""
        if is_eager():
            return true_fn(*operands) if pred else false_fn(*operands)
        decided = self.operand(pred)
        given = tuple(map(self._given, operands))
        return self.joined(decided, self.side(lambda: true_fn(*given)), self.side(lambda: false_fn(*given)))

    def joined(self, decided: Operand, first: Block, second: Block) -> Any:
        """What a branch gives whose sides are traced."""
        assert first.result is not None
        assert second.result is not None
        if tensors_of(first.result.spec) != tensors_of(second.result.spec):
            raise TraceError(
                f"the two sides of a branch give different results, at {where()}: {first.result.spec} and "
                f"{second.result.spec}; accepted: equal shapes and dtypes"
            )
        return self._control(Control(self._result(first.result.spec), decided, first, second))

    def loop(self, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], state: Any) -> Any:
        """See ``Dispatcher.loop``; condition and body become kernel graphs of their own, in PyNative mode none."""
        if is_eager():
            while cond_fn(state):
                state = body_fn(state)
            return state
        members = [self._here(s) for s in (state if isinstance(state, (tuple, list)) else (state,))]
        init = [m.operand for m in members]
        variables = [Parameter("", m.spec, False) for m in members]
        traced = tuple(Traced(v, v.spec) for v in variables)
        current_state = traced if isinstance(state, (tuple, list)) else traced[0]
        first = self.side(lambda: cond_fn(current_state))
        second = self.side(lambda: body_fn(current_state))
        assert second.result is not None
        for variable, start in zip(variables, init, strict=True):
            if isinstance(start, Node) and start.extra.root is None and self.states.is_changed(variable):
                # Its memory is the variable's: it stays a value of its own.
                start.extra.root, start.extra.looped = start, True
        spec = TupleSpec(tuple(m.spec for m in members)) if isinstance(state, (tuple, list)) else members[0].spec
        if tensors_of(second.result.spec) != tensors_of(spec):
            raise TraceError(
                f"the body of a loop changes its state from {spec} to {second.result.spec}, at {where()}; accepted: "
                "equal shapes and dtypes"
            )
        return self._control(Control(self._result(spec), None, first, second, variables, init))

    def _given(self, value: Any) -> Any:
        """An operand of a branch as its sides see it; tuples stay tuples."""
        if isinstance(value, (tuple, list)) and has_tensor(value):
            return tuple(map(self._given, value))
        return self._here(value)

    def _here(self, value: Any) -> Traced:
        operand = self.operand(value)
        return value if isinstance(value, Traced) else Traced(operand, operand.spec)

    def _result(self, spec: Spec) -> Node:
        node = Node("Switch", [], {}, self.scope, spec, kernel=False)
        node.extra = NodeExtra(functional=False, closure=self.closures.current())
        return node

    def side(self, function: Callable[[], Any]) -> Block:
        """Traces one side of a control into a block of its own."""
        saved = self.block, self.region, self.states.leave()
        self._begin(Block([Region()]))
        self.block.result = self.operand(function())
        block = self.block
        self._leave()
        self.block, self.region = saved[:2]
        self.states.back(saved[2])
        return block

    def _begin(self, block: Block) -> None:
        last = block.items[-1]
        assert isinstance(last, Region)
        self.block, self.region = block, last
        self.states.leave()

    def _leave(self) -> None:
        """Ends a region; its effect is what it did to memory."""
        effect = self.states.flush()
        if effect is not U:
            self.region.effect = effect

    def _control(self, control: Control) -> Any:
        control.node.extra.control = control
        self._leave()
        self.block.items += [control, Region()]
        self._begin(self.block)
        return self.unpack(control.node)
