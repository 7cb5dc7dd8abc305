"""The first divergence of dumps in msprobe's layout whose calls, callers or facts beside values differ: the earliest,
whatever differs after it, by ``diff`` and by ``check``."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path
from typing import Any

import pytest

from harness.capture.msprobe_texts import calls_of, first_change
from harness.cli import main
from tests.capture.msprobe_build import call, dump, scalar, tensor

_FIRST = re.compile(r"First divergence: (?:rank \d+, )?iteration (\d+), (\S+), (.*)")
Step = dict[str, Any]


def drawn_step(drawn: random.Random, kept: bool) -> tuple[Step, Step]:
    """Calls of one step, some without tensors, and their callers; ``kept``: whether tensors are stated at all."""
    data: Step = {}
    for at in range(drawn.randrange(4, 9)):
        inputs = [tensor(Max=float(at), requires_grad=drawn.random() < 0.5)] if kept and drawn.random() < 0.7 else []
        data[f"Functional.f{at}.0.forward"] = call([*inputs, scalar(at)] if inputs else [], copy.deepcopy(inputs))
    data["Functional.last.0.forward"] = call([], [tensor()] if kept else [])
    return data, dict.fromkeys(data, "Module.a.Linear.forward.0")


def change(drawn: random.Random, data: Step, callers: Step) -> tuple[str, str]:
    """Changes one call of the dump; gives its name and what is said of it."""
    names = list(data)
    at = drawn.randrange(len(names) - 2)
    name = names[at]
    kind = drawn.choice(["removed", "inserted", "moved", "called by another", "what is stated"])
    tensors = data[name]["output"]
    if kind == "removed":
        del data[name], callers[name]
    elif kind == "called by another":
        callers[name] = "Module.b.Linear.forward.0"
    elif kind == "what is stated" and tensors:
        tensors[0]["requires_grad"] = not tensors[0]["requires_grad"]
    else:
        kind = "inserted" if kind == "what is stated" else kind
        fresh = "Functional.more.0.forward"
        if kind == "inserted":
            names.insert(at, fresh)
        else:
            names[at], names[at + 1] = names[at + 1], names[at]
        held, called = dict(data), dict(callers)
        for each, old, new in ((data, held, call([], [])), (callers, called, "Module.a.Linear.forward.0")):
            each.clear()
            each.update({each_: old.get(each_, new) for each_ in names})
        name = fresh if kind == "inserted" else name
    return name, kind


@pytest.mark.parametrize("kept", [True, False])
def test_the_earliest_is_named(kept: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = random.Random(3 + kept)
    for at in range(6):
        good, bad = tmp_path / f"good{at}", tmp_path / f"bad{at}"
        step = drawn.randrange(2)
        for label in range(2):
            data, callers = drawn_step(drawn, kept)
            head = {} if kept else {"task": "structure"}
            dump(good, data if kept else {}, step=label, beside={"construct.json": callers}, **head)
            if label == step:
                name, kind = change(drawn, data, callers)
                if kept and drawn.random() < 0.5:  # and a value after it
                    data["Functional.last.0.forward"]["output"][0]["Max"] = 77.0
            dump(bad, data if kept else {}, step=label, beside={"construct.json": callers}, **head)
        said = []
        assert main(["diff", str(good), str(bad)]) == 1
        said.append(capsys.readouterr().out)
        if kept:
            golden = str(tmp_path / f"{at}.h5")
            assert main(["import", str(good), golden]) == 0
            assert main(["check", str(bad), golden]) == 1
            said.append(capsys.readouterr().out)
        for text in said:
            found = _FIRST.search(text)
            assert found is not None, (name, kind, text)
            assert (found[1], found[2]) == (str(step), name), (kind, text)
            assert found[3].startswith(kind), (kind, text)


def test_a_value_before_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = {f"Functional.f{at}.0.forward": call([tensor()], [tensor()]) for at in range(3)}
    other = copy.deepcopy(one)
    other["Functional.f0.0.forward"]["output"][0]["Max"] = 9.0
    del other["Functional.f2.0.forward"]
    assert main(["diff", str(dump(tmp_path / "a", one)), str(dump(tmp_path / "b", other))]) == 1
    found = _FIRST.search(capsys.readouterr().out)
    assert found is not None
    assert found[2] == "Functional.f0.0.forward"


def test_texts_are_read_as_they_are_written() -> None:
    lines = ["f.0.forward in m", "f.0.forward.parameters.w.input.0 requires_grad", "g.0", "g.0 is_nan=1"]
    read = calls_of("".join(f"{line}\n" for line in lines).encode())
    assert [(each.name, each.caller, len(each.facts)) for each in read] == [("f.0.forward", "m", 1), ("g.0", "", 1)]
    assert first_change("compared/kernel_args_graph_0.json", b"a\n", b"b\n") is None
