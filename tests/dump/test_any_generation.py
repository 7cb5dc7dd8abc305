"""Any valid configuration of any release, synchronous or asynchronous, gives a tree that reads back to exactly the
tensors the run produced, or nothing at all where it says so; any other gives one named error and no tree.

What a field means in a release is repeated here from the documents; the rules' table is only asked which rows there
are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from harness.devices import DEVICES
from harness.dump import parse
from harness.dump.environment import DISTRIBUTED, RELEASE, VARIABLE, DumpEnvironment
from harness.dump.environment import observer_for as made_observer
from harness.dump.generations import TABLE
from harness.dump.rules import GENERATIONS
from harness.errors import DumpConfigError
from harness.stats.printed import COLUMNS
from tests.capture.nets import processes
from tests.dump.produced import Produced, check, mark
from tests.examples import examples

G10, G12, G15, G20, G24, G27 = GENERATIONS
ITEMS = [item for item in COLUMNS if item != "sha1"]
ENTRIES = st.one_of(
    st.sampled_from(["Default/Add-op0", "Default/a_b/MatMul-op1", "Default/a.b/Add-op0"]),
    st.sampled_from(["Add", "matm", "a", "MatMul", "x"]),
    st.sampled_from(["name-regex(.*Add-op.)", "name-regex(x|w+)", "name-regex(Default/[a-z_.]+/.*)", "name-regex(.+)"]),
)


@st.composite
def iterations(draw: st.DrawFn) -> str:
    """The grammar: numbers and ranges, in any order, overlapping or reversed, with blanks around the separators."""
    if draw(st.booleans()):
        return "all"
    blank = st.sampled_from(["", "", " "])
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        ends = draw(st.lists(st.sampled_from([0, 1, 2, 3, 7, 100]), min_size=1, max_size=2))
        parts.append(f"{draw(blank)}-{draw(blank)}".join(map(str, ends)))
    return f"{draw(blank)}|{draw(blank)}".join(parts)


class Case(NamedTuple):
    """A configuration and what it means.

    Attributes:
        generation, backend: a row of the rules.
        sections: of the file, but for the path.
        means: as ``Produced`` takes it; None where nothing is dumped.
    """

    generation: str
    backend: str
    sections: dict[str, Any]
    means: dict[str, Any] | None

    @property
    def device(self) -> str:
        return {"ascend": "ascend-o0"}.get(self.backend, self.backend)

    def text(self, root: str) -> str:
        sections = dict(self.sections)
        sections["common_dump_settings"] = {"path": root, **sections["common_dump_settings"]}
        return json.dumps(sections)


def saved_data(generation: str, backend: str, *, e2e: bool, npy: bool) -> list[str]:
    """The words that are valid."""
    every = ["tensor", "statistic", "full"]
    if generation in (G10, G12) or backend == "cpu":
        return ["tensor"]
    if backend == "gpu":
        return every
    if generation == G15:
        return ["tensor"]
    if generation == G20:
        return every if npy and not e2e else ["tensor"]
    return every if e2e or npy else ["tensor"]


def has_marks(generation: str, backend: str, *, e2e: bool) -> bool:
    """Whether dump_mode 2 is valid."""
    if backend != "ascend":
        return False
    return {G15: not e2e, G20: not e2e, G24: e2e, G27: True}.get(generation, False)


class Kind(NamedTuple):
    """What kind of dump a case asks for, so that each is tried.

    Attributes:
        asks: ``e2e_dump_settings`` asks for the kernel-by-kernel dump.
        e2e: that is what there is.
        npy: ``file_format``.
        saved: ``saved_data``.
    """

    generation: str
    backend: str
    asks: bool
    e2e: bool
    npy: bool
    saved: str


def kinds() -> Iterator[Kind]:
    for generation, backend in sorted(TABLE):
        alone = not backend.startswith("ascend") and generation in (G12, G15)  # no dump at all is an error there
        for asks in [True, False] if backend != "ascend-o2" and not alone else [backend != "ascend-o2"]:
            e2e = asks or (not backend.startswith("ascend") and generation not in (G10, G12, G15))
            for npy in (False, True) if generation not in (G10, G12) else (False,):
                for saved in saved_data(generation, backend, e2e=e2e, npy=npy):
                    yield Kind(generation, backend, asks, e2e, npy, saved)


KINDS = list(kinds())


@st.composite
def cases(draw: st.DrawFn, chosen: list[Kind]) -> Case:
    """Every field that is valid in dumps of these kinds."""
    generation, backend, asks, e2e, npy, saved = draw(st.sampled_from(chosen))
    old, newest = generation in (G10, G12, G15, G20), generation in (G24, G27)
    on = e2e or backend.startswith("ascend")
    debug = draw(st.sampled_from([0, 0, 0, 3, 1, 2] if old else [0, 0, 0, 0, 3, 1, 2, 4]))
    if e2e and generation in (G10, G12):
        debug = 0  # of the synchronous dump of these releases nothing is said about it
    mode = draw(st.sampled_from([0, 1, 2] if has_marks(generation, backend, e2e=e2e) else [0, 1]))
    common: dict[str, Any] = {
        "dump_mode": mode,
        "net_name": "Net",
        "iteration": draw(st.integers(0, 3)) if generation == G10 else draw(iterations()),
        "input_output": draw(st.integers(0, 2)),
        "kernels": draw(st.lists(ENTRIES, min_size=draw(st.integers(0, 1)) * (mode == 1), max_size=3, unique=True)),
        "support_device": draw(st.sampled_from([[0], [0], [0, 1, 7], [7, 0, 0], [1, 2], []])),
    }
    sections: dict[str, Any] = {"common_dump_settings": common}
    fields: dict[str, Any] = {"enable": asks if old else draw(st.booleans()), "trans_flag": draw(st.booleans())}
    if generation == G10:
        sections["async_dump_settings"] = {"enable": not e2e, "op_debug_mode": debug}
    else:
        common["op_debug_mode"] = debug
    if generation not in (G10, G12):
        common |= {"saved_data": saved, "file_format": "npy" if npy else "bin"}
    if newest:
        hashes = ["hash", "hash:sha1", "hash:md5"] if generation == G27 else []
        common["statistic_category"] = draw(st.lists(st.sampled_from(ITEMS + hashes), unique=True))
        if debug in (1, 2, 3) and draw(st.booleans()):
            common["overflow_number"] = draw(st.integers(0, 3))
        fields |= {
            "sample_mode": draw(st.integers(0, 1)), "sample_num": draw(st.integers(1, 4)),
            "stat_calc_mode": draw(st.sampled_from(["host", "device"])), "save_kernel_args": draw(st.booleans()),
        }  # fmt: skip
    if generation == G27:
        common["initial_iteration"] = draw(st.sampled_from([0, 0, 2, 98]))
        fields["device_stat_precision_mode"] = draw(st.sampled_from(["high", "low"]))
    if asks or (old and draw(st.booleans())):
        sections["e2e_dump_settings"] = fields
    listed = 0 in common["support_device"] or (backend == "cpu" and generation not in (G10, G12))
    means = meaning(generation, backend, common, fields if asks else {}, debug, e2e=e2e) if on and listed else None
    return Case(generation, backend, sections, means)


def meaning(
    generation: str, backend: str, common: dict[str, Any], fields: dict[str, Any], debug: int, *, e2e: bool
) -> dict[str, Any]:
    """The fields in the words of the newest release."""
    new = generation in (G24, G27)
    number = common["iteration"]
    iteration = ("all" if number == 0 and e2e else str(number)) if generation == G10 else number
    mode = debug
    if new:
        mode = {1: 3, 2: 3}.get(debug, debug)
    elif e2e:
        mode = 0  # not looked at
    elif debug in (1, 2):
        mode = 3
    ascend_e2e = e2e and backend == "ascend"
    # What fails is dumped whenever that is; the asynchronous dump keeps to its iterations.
    return {
        "iteration": iteration, "dump_mode": common["dump_mode"], "input_output": common["input_output"],
        "kernels": common["kernels"], "op_debug_mode": mode, "overflow_number": common.get("overflow_number", 0),
        "sample_mode": fields.get("sample_mode", 0) if ascend_e2e and mode != 4 else 0,
        "sample_num": fields.get("sample_num", 1),
        "forces": new, "empty_selects": generation == G27, "never": not new and not e2e and debug == 2,
        "kinds": {G20: ("name", "type"), G24: ("regex", "name", "type"), G27: ("regex", "name", "type")}.get(
            generation, ("name",)
        ),
    }  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
@examples(
    4,
    40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.differing_executors],
)
@given(data=st.data())
def test_a_valid_configuration_gives_a_tree_that_reads_back(kind: Kind, data: st.DataObject) -> None:
    case, (nets, calls) = data.draw(cases([kind])), data.draw(processes())
    mark(nets)
    with TemporaryDirectory() as directory:
        root = Path(directory) / "tree"
        config = parse(case.text(str(root)), case.device, case.generation, environ={})
        device = DEVICES.get(case.device)
        observer = made_observer(config, device)
        if case.means is None:
            assert observer is None
            assert not root.exists()
            return
        assert observer is not None
        produced = Produced(config, case.means, case.device)
        for net in nets:
            observer.graph_declared(net.graph)
        for call in calls:
            nets[call].run([observer, produced])
        observer.closed()
        check(config, produced, root)


FAULTS: dict[str, list[Any]] = {
    "dump_mode": [3, -1, "0", None, 1.0], "input_output": [3, -1, "all"], "kernels": ["Add", None, {}],
    "net_name": ["a/b", "a b", 1, None], "support_device": [0, None, ["0"]], "path": ["relative", "/a b", "/ä", 1],
}  # fmt: skip


@st.composite
def broken(draw: st.DrawFn) -> tuple[Case, str | None]:
    """A valid case with one field that no release takes, and the path if that is it."""
    case = draw(cases(KINDS))
    name = draw(st.sampled_from(["iteration", *FAULTS]))
    if name == "iteration":
        wrong = ["1", None, -1] if case.generation == G10 else ["", "a", "*", 5, None, [0]]
        if case.generation not in (G10, G12):
            wrong.append("0,1")  # before, what follows a number was not looked at
    else:
        wrong = FAULTS[name]
    value = draw(st.sampled_from(wrong))
    common = dict(case.sections["common_dump_settings"], support_device=[0])
    if draw(st.booleans()) and name not in ("path",):
        del common[name]  # what is missing is refused, too
    else:
        common[name] = value
    return case._replace(sections={**case.sections, "common_dump_settings": common}), name


@examples(25, 200)
@given(broken())
def test_an_invalid_configuration_gives_one_named_error_and_no_tree(wanted: tuple[Case, str]) -> None:
    case, name = wanted
    if case.means is None and "support_device" not in name:
        return  # nothing is dumped; what is read before that differs from release to release
    with TemporaryDirectory() as directory:
        file = Path(directory) / "dump.json"
        file.write_text(case.text(f"{directory}/tree"))
        dump = DumpEnvironment()
        environ = {VARIABLE: str(file), RELEASE: case.generation.partition("-")[0], DISTRIBUTED: "0"}
        try:
            dump.install(environ, DEVICES.get(case.device))
        except DumpConfigError as error:
            found = error
        assert found.kind
        assert str(found).startswith("dump configuration: ")
        assert name in str(found)
        assert os.listdir(directory) == ["dump.json"]
