"""msprobe's mapping files: read as YAML reads them, and taken by ``msdump diff`` in either direction."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.mapped import entry_of, same_kind
from harness.capture.mapping_files import read_mappings, slot_of
from harness.capture.simple_yaml import parse_yaml
from harness.cli import main
from harness.errors import TreeError
from tests.capture.msprobe_build import call, dump, scalar, tensor

NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,12}", fullmatch=True).filter(
    lambda text: text.lower() not in ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
)
VALUE: Any = NAME | st.integers(-999, 999) | st.booleans() | st.none() | st.lists(st.integers(0, 9), max_size=3)
DOCUMENT = st.dictionaries(NAME, st.dictionaries(NAME, VALUE, min_size=1), min_size=1) | st.lists(
    st.dictionaries(NAME, VALUE, min_size=1), min_size=1
)


@given(DOCUMENT, st.sampled_from([None, False]), st.booleans())
def test_documents_are_read_as_yaml_reads_them(value: Any, flow: bool | None, quoted: bool) -> None:
    """Whatever PyYAML writes in its usual styles."""
    text = yaml.safe_dump(value, default_flow_style=flow, default_style='"' if quoted else None)
    if "!!" not in text and "{" not in text and "- - " not in text:
        assert parse_yaml(text, "x") == yaml.safe_load(text) == value


@given(st.text(alphabet="ab:-#[]'\" \n,\t&*{}0.\\", max_size=40))
def test_any_text_is_read_as_yaml_reads_it_or_refused(text: str) -> None:
    with suppress(TreeError):
        found = parse_yaml(text, "x")
        assert repr(found)


@pytest.mark.parametrize(
    "text",
    ["a: &b c", "a: !!python/object:os.system x", "a: |\n  b", "a:\n\tb: c", "a: b\n  c: d", "a: [b", "a: {b: c}"],
)
def test_what_is_refused_names_its_line(text: str) -> None:
    with pytest.raises(TreeError, match=r"x, line \d"):
        parse_yaml(text, "x")


@pytest.mark.parametrize(
    "text", ["", "a", "- a", "a: 1", "a:\n  b: 1", "- ms_api: a", "- ms_api: a\n  pt_api: b\n  ms_args: [0]"]
)
def test_files_that_are_no_mapping(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(TreeError, match=r"m\.yaml"):
        read_mappings([tmp_path / "m.yaml"])


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Cell.net.fc1.Dense.forward.0", ("net.fc1", "Dense", "", "forward", "0", "")),
        ("Module.fc.Linear.forward.1.parameters.weight", ("fc", "Linear", "", "forward", "1", ".parameters.weight")),
        ("Module.fc.Linear.parameters_grad.0.bias", ("fc", "Linear", "", "parameters_grad", "0", ".bias")),
        ("Functional.softmax.3.backward", ("", "softmax", "Functional.softmax", "backward", "3", "")),
        ("Default/MatMul-op0", None), ("", None), ("a.b", None),
    ],
)  # fmt: skip
def test_names_of_entries(name: str, parts: Any) -> None:
    found = entry_of(name)
    assert (found[1:] if found is not None else None) == parts


def test_names_of_slots() -> None:
    assert slot_of("Functional.a.0.forward.input.0") == ("Functional.a.0.forward", "input", "0")
    assert slot_of("Cell.a.A.forward.0.parameters.w") == ("Cell.a.A.forward.0.parameters.w", "output", "0")
    assert slot_of("Cell.a.A.parameters_grad.0.w") == ("Cell.a.A.parameters_grad.0.w", "output", "0")
    assert slot_of("fc2.Dense") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("npu_fusion_attention", "flash_attention_score"), ("npu_rms_norm", "RmsNorm"), ("npu_swiglu", "Swiglu"),
        ("npu_rotary_mul", "RotaryPositionEmbedding"), ("__mul__", "Mul"),
        ("npu_fusion_attention", "FlashAttentionScore"),
    ],
)  # fmt: skip
def test_fused_operators_are_of_one_kind(one: str, other: str) -> None:
    assert same_kind(one) == same_kind(other)
    assert same_kind(one) != same_kind("relu")


def mindspore(root: Path, high: float = 2.5) -> Path:
    """A network of MindSpore's: two layers, and what they call."""
    leaf = {"type": "mindspore.Tensor", "dtype": "Float32"}
    x, y = tensor(**leaf), tensor(**{**leaf, "Max": high})
    data = {
        "Functional.flash_attention_score.0.forward": call([x, x, x, scalar(4)], [y]),
        "Cell.network.attention.FlashAttention.forward.0": call([x], [y]) | {"parameters": {"weight": x}},
        "Mint.softmax.0.forward": call([y, scalar(-1)], [y]),
        "Cell.network.fc2.Dense.forward.0": call([y], [y]),
    }
    parents = {
        "Functional.flash_attention_score.0.forward": "Cell.network.attention.FlashAttention.forward.0",
        "Mint.softmax.0.forward": None,
    }
    return dump(root, data, framework="mindspore", level="mix", beside={"construct.json": parents})


def pytorch(root: Path, high: float = 2.5) -> Path:
    """The same of PyTorch's, under other names."""
    x, y = tensor(), tensor(Max=high)
    data = {
        "NPU.npu_fusion_attention.0.forward": call([x, x, x, scalar(4)], [y]),
        "Module.module.core.CoreAttention.forward.0": call([x], [y]) | {"parameters": {"weight": x}},
        "Torch.softmax.0.forward": call([y], [y], dtype=None, dim=scalar(-1)),
        "Module.module.last.Linear.forward.0": call([y], [y]),
    }
    parents = {
        "NPU.npu_fusion_attention.0.forward": "Module.module.core.CoreAttention.forward.0",
        "Torch.softmax.0.forward": None,
    }
    return dump(root, data, level="mix", beside={"construct.json": parents})


LAYERS = "TopLayer:\n  network: module\nCell:\n  network.attention: module.core\n  network.fc2: module.last\n"
FUNCTIONS = "- ms_api: Mint.softmax\n  pt_api: Torch.softmax\n  ms_args: [0, 1]\n  pt_args: [0, dim]\n"
PARTS = "network.attention.FlashAttention: module.core.CoreAttention\nfc2.Dense: last.Linear\nnetwork: module\n"
CELLS = "network.attention.FlashAttention: module.core.CoreAttention\nnetwork.fc2.Dense: module.last.Linear\n"
SLOTS = {
    f"Functional.flash_attention_score.0.forward.{io}.{at}": f"NPU.npu_fusion_attention.0.forward.{io}.{at}"
    for io, at in (("input", 0), ("input", 1), ("input", 2), ("input", 3), ("output", 0))
}


@pytest.mark.parametrize(
    "files", [(LAYERS, FUNCTIONS), (CELLS, FUNCTIONS, json.dumps(SLOTS)), (PARTS, FUNCTIONS, json.dumps(SLOTS))]
)
@pytest.mark.parametrize("turned", [False, True])
def test_diff_takes_them(
    files: tuple[str, ...], turned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = []
    for at, text in enumerate(files):
        if text.startswith("{"):  # as YAML
            text = yaml.safe_dump(json.loads(text))
        (tmp_path / f"{at}.yaml").write_text(text)
        options += ["--mapping", str(tmp_path / f"{at}.yaml")]

    def compared(high: float) -> tuple[int, str]:
        sides = [str(mindspore(tmp_path / "m")), str(pytorch(tmp_path / "p", high))]
        code = main(["diff", *options, *(sides[::-1] if turned else sides)])
        return code, "".join(capsys.readouterr())

    code, said = compared(2.5)
    assert code == 0, said
    code, said = compared(9.0)
    assert code == 1
    first = "NPU.npu_fusion_attention" if turned else "Functional.flash_attention_score"
    assert f"First divergence: iteration 0, {first}.0.forward, output.0" in said
    assert "Mapped: " in said


@pytest.mark.parametrize("table", [True, False])
def test_functions_by_a_plain_table(table: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """msprobe's own table of functions has this form; its ``compare`` of these dumps pairs them so."""
    x, y = tensor(type="mindspore.Tensor", dtype="Float32"), tensor()
    dump(tmp_path / "m", {"Tensor.fold.0.forward": call([x], [x])}, framework="mindspore")
    dump(tmp_path / "p", {"Torch.unrelated.0.forward": call([y], [y])})
    (tmp_path / "m.yaml").write_text("Tensor.fold: Torch.unrelated\n" if table else "Tensor.other: Torch.unrelated\n")
    code = main(["diff", "--mapping", str(tmp_path / "m.yaml"), str(tmp_path / "m"), str(tmp_path / "p")])
    said = "".join(capsys.readouterr())
    assert code == (0 if table else 1), said
    assert ("Mapped: 1 call" in said) is table


def test_what_names_nothing_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.yaml").write_text(FUNCTIONS + "- ms_api: Mint.none\n  pt_api: Torch.none\n")
    code = main(
        ["diff", "--mapping", str(tmp_path / "m.yaml"), str(mindspore(tmp_path / "m")), str(pytorch(tmp_path / "p"))]
    )
    said = "".join(capsys.readouterr())
    assert code == 1
    assert "nothing here is named by 1 rule of the mapping" in said
