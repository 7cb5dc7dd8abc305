"""What a runtime may tell a recording, what observers hear, and what is refused."""

from __future__ import annotations

import gc
import os
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.errors import RecordingError, StateError
from harness.recording import (
    Constant,
    Engine,
    Launch,
    Observer,
    Operator,
    Parameter,
    Recording,
    ScalarSpec,
    Spec,
    Step,
    TensorSpec,
    TupleSpec,
    Value,
    Want,
    World,
    constant,
    described,
    listening,
    plain,
    replayer_of,
)

SPEC = TensorSpec(dtypes.float32, (2,))
ONES = np.ones(2, np.float32)


class Heard(Observer):
    """Notes every event, with copies of what it shows."""

    before = True

    def __init__(self) -> None:
        self.events: list[Any] = []

    def launch_begin(self, launch: Launch) -> None:
        self.events.append(("begin", launch.operator.name, [v.array.tolist() for v in launch.inputs]))

    def launch_end(self, launch: Launch) -> None:
        before = [v.array.tolist() for v in launch.inputs]
        after = [v.array.tolist() for v in launch.updated]
        outputs = [None if v.gap else v.array.tolist() for v in launch.outputs]
        self.events.append(("end", launch.operator.name, before, after, outputs))

    def launch_failed(self, launch: Launch, error: BaseException) -> None:
        self.events.append(("failed", launch.operator.name, [v.array.tolist() for v in launch.inputs]))

    def failed(self, step: Step, error: BaseException) -> None:
        self.events.append(("step failed", type(error).__name__))


def compiled(recording: Recording, *operators: Operator, **facts: Any) -> Any:
    with recording.compiling("net") as compiling:
        return compiling.graph(operators, **facts)


# --- numbers and names ------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from(["Default", "Default/x-X"])), max_size=12))
def test_operators_are_numbered_per_scope_and_type(kinds: list[tuple[str, str]]) -> None:
    recording = Recording("tiny 1")
    made = [Operator(*kind) for kind in kinds] + [Operator("C")]
    compiled(recording, *made[: len(made) // 2], Operator("D"))
    compiled(recording, *made[len(made) // 2 :])
    seen: dict[tuple[str, str], int] = {}
    for operator in made:
        key = operator.scope, operator.type
        assert operator.name == f"{operator.scope}/{operator.type}-op{seen.get(key, 0)}"
        seen[key] = seen.get(key, 0) + 1


def test_eager_operators_have_the_same_names_in_each_step() -> None:
    recording = Recording("tiny 1")
    graph = recording.eager()
    names = []
    for _ in range(2):
        with recording.step(graph):
            names.append([graph.operator("Add", mutates=()).name for _ in range(2)])
    assert names == [["Default/Add-op0", "Default/Add-op1"]] * 2
    assert len(graph.operators) == 2
    with recording.step(graph):
        other = graph.operator("Add", attributes={"axis": 1})
    assert other.name == "Default/Add-op0"
    assert len(graph.operators) == 2
    assert other in graph.operators


def test_an_order_of_launches_may_be_given() -> None:
    first, second = Operator("A"), Operator("B")
    graph = compiled(Recording("tiny"), first, second, order=[second, first])
    assert [each.type for each in graph.order] == ["B", "A"]
    assert (first.position, second.position) == (1, 0)


def test_what_operators_read_belongs_to_the_graph() -> None:
    weight, number = Parameter("w", SPEC, True), constant(2)
    graph = compiled(Recording("tiny"), Operator("Mul", inputs=[weight, number], outputs=[SPEC]))
    assert (graph.parameters, graph.constants) == ([weight], [number])


# --- values before and after ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mutates", [(0,), None])
def test_inputs_are_as_they_were_and_mutated_ones_as_they_are(mutates: tuple[int, ...] | None) -> None:
    heard = Heard()
    recording = Recording("tiny", observers=[heard])
    graph = compiled(recording, Operator("AddOne", inputs=[Parameter("x", SPEC, True)], mutates=mutates))
    data = ONES.copy()
    with recording.step(graph) as step, step.launch(graph.operators[0], [data]) as launch:
        data += 1
        launch.done([])
    after = [[2.0, 2.0]] if mutates else [[1.0, 1.0]]
    assert heard.events[1] == ("end", "Default/AddOne-op0", [[1.0, 1.0]], after, [])


def test_a_failing_launch_keeps_its_inputs() -> None:
    heard = Heard()
    recording = Recording("tiny", observers=[heard])
    graph = compiled(recording, Operator("AddOne", mutates=[0], inputs=[None]))
    data = ONES.copy()

    def run() -> None:
        with recording.step(graph) as step, step.launch(graph.operators[0], [data]):
            data[...] += 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()
    assert heard.events[1:] == [
        ("failed", "Default/AddOne-op0", [[1.0, 1.0]]), ("step failed", "ZeroDivisionError")
    ]  # fmt: skip
    with recording.step(graph) as step:  # and the recording goes on
        assert step.run == 0


def test_done_gives_its_outputs_back_and_a_function_is_called_when_read() -> None:
    calls = []

    def read() -> Any:
        calls.append(1)
        return ONES

    recording = Recording("tiny", observers=[Observer()])
    graph = recording.eager()
    with recording.step(graph) as step, step.launch(graph.operator("A", mutates=())) as launch:
        value = Value(read, dtypes.float32, (2,))
        assert launch.done([value, None, ONES]) == [value, None, ONES]
        assert [each.index for each in launch.outputs] == [0, 2]
    assert not calls
    assert value.array is value.array
    assert calls == [1]


def test_what_nobody_wants_need_not_be_shown() -> None:
    recording = Recording("tiny", observers=[Observer()])
    graph = compiled(recording, Operator("A"))
    with recording.step(graph) as step, step.launch(graph.operators[0]) as launch:
        assert launch.wants("output", 0) is Want.NOTHING
        launch.done([])

    class Sees(Observer):
        def launch_end(self, launch: Launch) -> None: ...

        def wants(self, operator: Operator, io: str, slot: int) -> Want:
            return Want.DIGEST if slot else Want.STATISTICS

    recording.add(Sees())
    with recording.step(graph) as step, step.launch(graph.operators[0]) as launch:
        assert [launch.wants("output", slot) for slot in (0, 1)] == [Want.STATISTICS, Want.DIGEST]
        launch.done([])


def test_a_step_that_is_over_holds_nothing_of_the_runtime() -> None:
    class Runtime:
        def parameters(self) -> Any:
            return iter(())

    runtime = Runtime()
    recording = Recording("tiny", observers=[Heard()])
    step = recording.step(compiled(recording, Operator("A")), parameters=runtime.parameters)
    with step:
        pass
    held = weakref.ref(runtime)
    gc.disable()
    try:
        del runtime
        assert held() is None
    finally:
        gc.enable()


class Opaque:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ConnectionError("the array is\n  elsewhere")


@pytest.mark.parametrize(
    ("given_", "gap"),
    [
        ([ONES], "a value of type list, no array"),
        ({"a": ONES}, "a value of type dict, no array"),
        ("text", "a value of type str, no array"),
        (np.array(["x"]), "a value of type numpy.ndarray cannot be read: elements of <U1 cannot be recorded"),
        (object(), "a value of type object cannot be read: elements of object cannot be recorded"),
        (Opaque(), f"a value of type {__name__}.Opaque cannot be read: the array is elsewhere"),
    ],
    ids=["list", "dict", "text", "texts", "object", "elsewhere"],
)
def test_what_cannot_be_recorded_is_a_gap(given_: Any, gap: str) -> None:
    value = Value.of(given_)
    assert value is not None
    assert (value.gap or "").startswith(gap)


def test_values_of_what_can_be_recorded() -> None:
    stated = Value(ONES)
    assert Value.of(None) is None
    assert Value.of(stated) is stated
    for each in (ONES, 3, 2.5, True, np.float16(1), ONES.reshape(2, 1).T):
        value = Value.of(each, stable=True)
        assert value is not None
        assert (value.gap, value.stable) == (None, True)
        assert np.array_equal(value.array, np.asarray(each))


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
_FOREIGN = st.sampled_from([object, np.dtype("f4"), len, range(3), Engine("tiny"), {"b", "a"}, frozenset([1])])


@given(
    st.recursive(_SCALARS | _FOREIGN, lambda each: st.lists(each) | st.tuples(each) | st.dictionaries(st.text(), each))
)
def test_attributes_of_any_kind_become_plain_ones(value: Any) -> None:
    made = plain(value)
    assert Operator("A", attributes={"it": made}).same(Operator("A", attributes={"it": plain(value)}))
    assert " at 0x" not in repr(made) or isinstance(value, (str, bytes))
    assert plain({"z", "y", "x"}) == ["x", "y", "z"]
    assert plain([1, (2.5, None)]) == [1, (2.5, None)]


def test_who_listens_to_an_engine_hears_open_recordings_and_new_ones() -> None:
    class Declared(Heard):
        def graph_declared(self, graph: Any) -> None:
            self.events.append(len(graph.operators))

    known, other = Recording("listened 1"), Recording("other 1")
    compiled(known, Operator("A"))
    heard: dict[Recording, Declared] = {}
    with listening("listened", lambda recording: heard.setdefault(recording, Declared())):
        opened = Recording("listened 2")
        compiled(opened, Operator("A"), Operator("B"), Operator("C"))
        compiled(other, Operator("A"), Operator("B"))
    compiled(known, Operator("D"))
    assert {str(each.engine): of.events for each, of in heard.items()} == {"listened 1": [], "listened 2": [3]}
    gc.collect()
    assert not known.graphs  # nobody holds them
    assert not known.observers
    assert not opened.observers


# --- forks ------------------------------------------------------------------------------------------------------------


def test_a_recording_that_nobody_wrote_to_goes_on_in_a_child() -> None:
    fresh, begun = Recording("fresh", observers=[Heard()]), Recording("begun", observers=[Heard()])
    begun.eager()
    child = os.fork()
    if child == 0:
        os._exit(10 * fresh.is_forked + begun.is_forked)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert not begun.is_forked


# --- bad input --------------------------------------------------------------------------------------------------------


def stating(recording: Recording, spec: Spec = SPEC) -> Any:
    """A compiled graph of one operator that reads two tensors and gives one."""
    x = Parameter("x", spec, is_weight=False)
    return compiled(recording, Operator("Add", inputs=[x, x], outputs=[spec], mutates=()))


def launched(
    recording: Recording, inputs: Any = (), outputs: Any = (), order: Any = None, of: Operator | None = None
) -> None:
    graph = stating(recording)
    with recording.step(graph) as step, step.launch(of or graph.operators[0], inputs, order) as launch:
        launch.done(outputs)


REFUSED: list[tuple[str, Any]] = [
    ("a text of 1 to", lambda r: Operator("")),
    ("a text of 1 to", lambda r: Operator("A", "x" * 5000)),
    ("no '/'", lambda r: Operator("a/b")),
    ("attribute 'f' is", lambda r: Operator("A", attributes={"f": object()})),
    ("attribute 'f' is", lambda r: Operator("A", attributes={"f": [{"x": np.array([object()])}]})),
    ("input.0 is", lambda r: Operator("A", inputs=["x"])),  # type: ignore[list-item]
    ("output.0: 3 .int. is no spec", lambda r: Operator("A", outputs=[3])),  # type: ignore[list-item]
    ("no input.2", lambda r: Operator("A", inputs=[None], mutates=[2])),
    ("no input.-1", lambda r: Operator("A", aliases={0: -1})),
    ("made of Operators", lambda r: compiled(r, "A")),
    ("which no graph declares", lambda r: compiled(r, Operator("B", inputs=[Operator("A")]))),
    ("a permutation|each operator of the graph once", lambda r: compiled(r, Operator("A"), order=[])),
    ("two operators", lambda r: compiled(r, Operator("A", number=1), Operator("A", number=1))),
    ("a graph of the recording", lambda r: r.step("graph")),
    ("a number from 0", lambda r: r.step(r.eager(), label=-1)),
    ("no graph of the recording declares", lambda r: r.step(r.eager()).launch(Operator("A"))),
    ("name and version", lambda r: Recording("  ")),
    ("slot 0: an array of float64", lambda r: Value(np.zeros(2), dtypes.float32, index=0)),
    ("for a value stated as", lambda r: Value(ONES, shape=(3,))),
    ("cannot be recorded", lambda r: Value(np.array(["x"]))),
    ("why it cannot be read", lambda r: Value(None)),
    ("needs its dtype and shape", lambda r: Value(lambda: ONES)),
    ("cannot be read: far away", lambda r: Value(None, gap="far away").array),
    ("printable characters", lambda r: Engine("", "1")),
    ("printable characters", lambda r: Engine("a\nb")),
    ("printable characters", lambda r: Engine(b"tiny")),  # type: ignore[arg-type]
    ("a dict of ranks by name", lambda r: World(0, 2, [1])),  # type: ignore[arg-type]
    ("'a' is a tuple of ranks", lambda r: World(0, 2, {"a": 3})),  # type: ignore[dict-item]
    ("belongs to a World", lambda r: Recording("tiny", world={"rank": 1})),  # type: ignore[arg-type]
    ("a list of Observers", lambda r: Recording("tiny", observers=3)),  # type: ignore[arg-type]
    ("a subclass of Observer", lambda r: Recording("tiny", observers=[object()])),  # type: ignore[list-item]
    ("a subclass of Observer", lambda r: r.add(Observer)),
    ("a function gives the parameters", lambda r: r.step(r.eager(), parameters=[(1, 2)])),
    ("'run' counts", lambda r: r.step(r.eager(), run="x")),
    ("attributes of A are a dict", lambda r: Operator("A", attributes=[1])),  # type: ignore[arg-type]
    ("function has a name", lambda r: r.compiling(3)),
    ("a list of names", lambda r: r.compiling("build", 3)),
    ("a list of names", lambda r: r.compiling("build", "x")),
    ("made of Operators", lambda r: r.compiling("build").graph(3)),
    ("what outputs of a graph", lambda r: r.compiling("build").graph([Operator("A")], outputs=[3])),
    ("what parameters of a graph", lambda r: r.compiling("build").graph([Operator("A")], parameters=["w"])),
    ("a stage is a name, and a text", lambda r: r.compiling("build").stage("lowered", 3)),
    ("a stage is a name, and a text", lambda r: r.compiling("build").stage(3, "text")),
    ("asked for by its name", lambda r: replayer_of(None)),  # type: ignore[arg-type]
    ("is described", lambda r: described("A")),  # type: ignore[arg-type]
    ("the label of a step", lambda r: r.step(r.eager(), label=True)),
    ("the label of a step", lambda r: r.step(r.eager(), label=2**31)),
    ("a rank is a number", lambda r: World(False, 1)),
    ("'aliases' has inputs", lambda r: Operator("A", aliases={"x": 0})),  # type: ignore[dict-item]
    ("its dtype is 'float32'", lambda r: stating(r, TensorSpec("float32", (2,)))),  # type: ignore[arg-type]
    ("its dtype is <class", lambda r: stating(r, TensorSpec(np.float32, (2,)))),  # type: ignore[arg-type]
    ("its dtype is 'int'", lambda r: stating(r, ScalarSpec("int"))),  # type: ignore[arg-type]
    ("its shape is 3", lambda r: stating(r, TensorSpec(dtypes.float32, 3))),  # type: ignore[arg-type]
    ("its shape is .2.5", lambda r: stating(r, TensorSpec(dtypes.float32, (2.5,)))),  # type: ignore[arg-type]
    ("its shape is .-7", lambda r: stating(r, TensorSpec(dtypes.float32, (-7,)))),
    ("3 .int. is no spec", lambda r: stating(r, TupleSpec((3,)))),  # type: ignore[arg-type]
    ("declared in another one", lambda r: r.step(Recording("other").eager())),
    ("outside of the block of its step", lambda r: r.step(stating(r)).launch(r.graphs[0].operators[0])),
    ("slot 0: int64 .. was given, but float32 .2. is stated", lambda r: launched(r, 3)),
    ("slot 0: float64 .3. was given", lambda r: launched(r, np.zeros(3))),
    ("slot 2 was given, but the operator states 2", lambda r: launched(r, [ONES] * 3)),
    ("output: slot 1 was given", lambda r: launched(r, [ONES] * 2, [ONES] * 2)),
    ("'order' is a place", lambda r: launched(r, order=-1)),
    ("'order' is a place", lambda r: launched(r, order=True)),
    ("declared in another recording", lambda r: launched(r, of=stating(Recording("other")).operators[0])),
    ("listened to by its name", lambda r: listening("", lambda each: Heard()).__enter__()),
]


@pytest.mark.parametrize(("says", "given_"), REFUSED, ids=[f"{at}" for at in range(len(REFUSED))])
def test_bad_input(says: str, given_: Any) -> None:
    with pytest.raises(RecordingError, match=says):
        given_(Recording("tiny"))


def test_a_block_runs_once_and_is_over_then() -> None:
    heard = Heard()
    recording = Recording("tiny", observers=[heard])
    graph = stating(recording)
    step = recording.step(graph)
    with step:
        launch = step.launch(graph.operators[0])
        with pytest.raises(RecordingError, match="outside of the block of its launch"):
            launch.done(ONES)
        with launch:
            launch.done(ONES)
    told = list(heard.events)
    with pytest.raises(RecordingError, match="ran already"), step:
        pass
    with pytest.raises(RecordingError, match="outside of the block of its step"):
        step.launch(graph.operators[0])
    assert heard.events == told
    with recording.step(graph) as again, again.launch(graph.operators[0]) as launch:
        launch.done(ONES)


def test_bad_values_name_the_operator_and_lose_nothing() -> None:
    heard = Heard()
    recording = Recording("tiny", observers=[heard])
    graph = compiled(recording, Operator("A", mutates=()), Operator("B", mutates=()))

    def run(inputs: Any, **results: Any) -> None:
        with recording.step(graph) as step, step.launch(graph.operators[0], inputs) as launch:
            if results:
                launch.done(**results)

    twice = [Value(ONES, index=1), Value(ONES, index=1)]
    for says, inputs, results in [
        (r"Default/A-op0, output: outputs: slot 0 is a function", [ONES], {"outputs": [lambda: ONES]}),
        (r"Default/A-op0, output: slot 0: elements of object", [ONES], {"outputs": [np.array([None])]}),
        ("given twice", twice, {}),
        (r"input\.1 was mutated", [ONES], {"outputs": [], "mutated": {1: ONES}}),
        ("without 'done", [ONES], {}),
    ]:
        with pytest.raises(RecordingError, match=says):
            run(inputs, **results)
    with recording.step(graph) as step, step.launch(graph.operators[1]) as launch:
        launch.done(ONES)
    assert heard.events[-1][:2] == ("end", "Default/B-op0")


def test_a_step_within_a_step_and_a_closed_recording() -> None:
    recording = Recording("tiny")
    graph = recording.eager()
    with recording.step(graph), pytest.raises(RecordingError, match="within another step"):
        recording.step(graph).begin()
    recording.close()
    recording.close()
    with pytest.raises(StateError, match="is closed"):
        recording.eager()


def test_an_engine_shows_its_name() -> None:
    assert str(Engine("tiny", "1.0")) == "tiny 1.0"
    assert repr(Constant(1, SPEC))
    assert repr(Operator("A")) == "<Operator Default/A-op-1>"


def test_an_attribute_within_itself_is_its_text() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    assert "[1, [...]]" in str(plain(endless))
