"""``save_checkpoint``, ``load_checkpoint``, ``load_param_into_net``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import dtypes, nn
from harness.framework.tensor import Parameter, Tensor
from harness.framework.train import load_checkpoint, load_param_into_net, save_checkpoint
from tests.framework.train.reference import network


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_names_and_modes_of_files() -> None:
    for name in ("plainckpt", "x", "y.ckpt"):
        save_checkpoint(network(), name)
    save_checkpoint(network(), "z.ckpt", format="safetensors")
    assert sorted(os.listdir()) == ["plainckpt", "x.ckpt", "y.ckpt", "z.ckpt.safetensors"]
    assert Path("x.ckpt").stat().st_mode & 0o777 == 0o400
    assert list(load_checkpoint("plainckpt")) == ["weight", "bias"]


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_a_network_comes_back(format: str) -> None:
    save_checkpoint(network(), "n", format=format)
    other = nn.Dense(3, 2)
    found = load_checkpoint(f"n.{format}", other, format=format)
    assert set(found) == {"weight", "bias"}
    assert found["weight"].name == "weight"
    np.testing.assert_array_equal(other.weight.asnumpy(), network().weight.asnumpy())


def test_an_existing_file_is_replaced() -> None:
    save_checkpoint({"a": Tensor([1.0])}, "x")
    save_checkpoint({"b": Tensor([2.0])}, "x")
    assert list(load_checkpoint("x.ckpt")) == ["b"]
    assert os.listdir() == ["x.ckpt"]


def test_what_can_be_saved() -> None:
    save_checkpoint([{"name": "a", "data": Tensor([1.0, 2.0])}, Parameter(Tensor([1]), name="q")], "l")
    assert {name: value.shape for name, value in load_checkpoint("l.ckpt").items()} == {"a": (2,), "q": (1,)}
    more = {"e": 1, "l": 0.5, "b": True, "s": "text", "t": Tensor([1, 2])}
    save_checkpoint(network(), "m", append_dict=more, choice_func=lambda name: name == "bias", crc_check=True)
    found = load_checkpoint("m.ckpt", crc_check=True)
    assert list(found) == ["bias", "e", "l", "b", "s", "t"]
    assert [str(found[name].dtype) for name in "elbt"] == ["Int64", "Float32", "Bool", "Int64"]
    assert [found[name].shape for name in "elb"] == [(), (), ()]
    assert found["s"] == "text"


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_dtype(dtype: Any) -> None:
    save_checkpoint({"p": Tensor(np.array([1, 0]), dtype)}, "p")
    found = load_checkpoint("p.ckpt")["p"]
    assert (found.dtype, found.asnumpy().tolist()) == (dtype, Tensor(np.array([1, 0]), dtype).asnumpy().tolist())


SAVING = {
    "save_obj": (lambda: save_checkpoint(5, "x"), TypeError),
    "list must hold": (lambda: save_checkpoint([1], "x"), TypeError),
    "got {'nme'": (lambda: save_checkpoint([{"nme": 1}], "x"), TypeError),
    "'a' must be": (lambda: save_checkpoint([{"name": "a", "data": [1]}], "x"), TypeError),
    "a name": (lambda: save_checkpoint({1: Tensor([1])}, "x"), TypeError),
    "ckpt_file_name": (lambda: save_checkpoint(network(), 5), TypeError),
    "append_dict must be": (lambda: save_checkpoint(network(), "x", append_dict=[1]), TypeError),
    "append_dict must hold": (lambda: save_checkpoint(network(), "x", append_dict={"e": [1]}), TypeError),
    "64 bits": (lambda: save_checkpoint(network(), "x", append_dict={"e": 2**63}), ValueError),
    "format": (lambda: save_checkpoint(network(), "x", format="zip"), ValueError),
    "async_save": (lambda: save_checkpoint(network(), "x", async_save="x"), ValueError),
    "integrated_save": (lambda: save_checkpoint(network(), "x", integrated_save=1), TypeError),
    "encrypted": (lambda: save_checkpoint(network(), "x", enc_key=b"0" * 16), NotImplementedError),
    "choice_func": (lambda: save_checkpoint(network(), "x", choice_func=1), TypeError),
    "is a directory": (lambda: (os.mkdir("d.ckpt"), save_checkpoint(network(), "d.ckpt")), IsADirectoryError),
    "does not exist": (lambda: save_checkpoint(network(), "no/such.ckpt"), FileNotFoundError),
}


@pytest.mark.parametrize("words", SAVING)
def test_what_cannot_be_saved(words: str) -> None:
    call, error = SAVING[words]
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
    assert not [name for name in os.listdir() if os.path.isfile(name)]


LOADING = {
    "there is no file": (lambda: load_checkpoint("nope.ckpt"), ValueError),
    "must end with": (lambda: load_checkpoint("w.bin"), ValueError),
    "starts no tensor": (lambda: load_checkpoint("g.ckpt"), ValueError),
    "no parameter that was asked for": (lambda: load_checkpoint("e.ckpt"), ValueError),
    "cannot be read": (lambda: load_checkpoint("dir.ckpt"), ValueError),
    "ckpt_file_name": (lambda: load_checkpoint(5), TypeError),
    "filter_prefix must not be empty": (lambda: load_checkpoint("x.ckpt", filter_prefix=""), ValueError),
    "filter_prefix must be": (lambda: load_checkpoint("x.ckpt", filter_prefix=3), TypeError),
    "format must be": (lambda: load_checkpoint("x.ckpt", format="zip"), ValueError),
    "choice_func": (lambda: load_checkpoint("x.ckpt", choice_func=1), ValueError),
}


@pytest.mark.parametrize("words", LOADING)
def test_what_cannot_be_loaded(words: str) -> None:
    save_checkpoint(network(), "x")
    Path("w.bin").write_bytes(Path("x.ckpt").read_bytes())
    Path("g.ckpt").write_bytes(b"garbage")
    Path("e.ckpt").touch()
    Path("dir.ckpt").mkdir()
    call, error = LOADING[words]
    with pytest.raises(error, match=words):
        call()


def test_names_are_chosen() -> None:
    save_checkpoint(network(), "x")
    assert list(load_checkpoint("x.ckpt", filter_prefix="wei")) == ["bias"]
    assert list(load_checkpoint("x.ckpt", specify_prefix=["bi", "q"])) == ["bias"]
    assert list(load_checkpoint("x.ckpt", choice_func=lambda name: name == "bias")) == ["bias"]
    with pytest.raises(ValueError, match="weight"):
        load_checkpoint("x.ckpt", filter_prefix=("wei", "bi"))


def parameter(shape: tuple[int, ...], dtype: Any = np.float32, name: str = "weight") -> dict[str, Parameter]:
    return {name: Parameter(Tensor(np.ones(shape, dtype)), name=name)}


def test_what_is_loaded_and_what_is_not() -> None:
    assert load_param_into_net(network(), parameter((2, 3))) == (["bias"], [])
    assert load_param_into_net(network(), {**parameter((2, 3)), **parameter((2,), name="zz")}) == (["bias"], ["zz"])
    assert load_param_into_net(network(), {}) == (["weight", "bias"], [])
    assert load_param_into_net(network(), {"bias": "x"}) == (["weight"], ["bias"])
    net = network()
    assert load_param_into_net(net, parameter((2, 1), name="bias")) == (["weight"], [])
    assert net.bias.asnumpy().tolist() == [1, 1]
    half = network()
    load_param_into_net(half, parameter((2, 3), np.float16))
    assert (half.weight.dtype, half.weight.asnumpy()[0, 0]) == (dtypes.float32, 1)


def test_names_with_something_in_front() -> None:
    net = network()
    found = {**parameter((2, 3), name="backbone.weight"), **parameter((2,), name="backbone.bias")}
    assert load_param_into_net(net, found) == ([], ["backbone.weight", "backbone.bias"])
    assert net.weight.asnumpy()[0, 0] == 1
    assert load_param_into_net(network(), found, strict_load=True)[0] == ["weight", "bias"]


@pytest.mark.parametrize(("words", "given", "strict"), [
    ("shape", parameter((3, 3)), False), ("shape", parameter((2, 3, 2)), False), ("shape", parameter((3, 2, 1)), False),
    ("Float16", parameter((2, 3), np.float16), True), ("Int32", parameter((2, 3), np.int32), False),
])  # fmt: skip
def test_what_does_not_fit(words: str, given: Any, strict: bool) -> None:
    with pytest.raises(RuntimeError, match=words):
        load_param_into_net(network(), given, strict_load=strict)


@pytest.mark.parametrize(("words", "args"), [
    ("net must", (5, {})), ("parameter_dict must be", (None, [1])), ("strict_load", (None, {}, 1)),
    ("must hold Parameters", (None, {"a": Tensor([1])})),
])  # fmt: skip
def test_what_loading_refuses(words: str, args: Any) -> None:
    with pytest.raises(TypeError, match=words):
        load_param_into_net(network() if args[0] is None else args[0], *args[1:])


def test_loaded_parameters_of_one_dtype_share_their_memory() -> None:
    """Measured: what is loaded from another network's parameters is that network's, unless it is cast."""
    one, other, half = network(), network(), network()
    half.weight.set_dtype(dtypes.float16)
    given = {parameter.name: parameter for parameter in one.get_parameters()}
    load_param_into_net(other, given)
    load_param_into_net(half, given)
    before = half.weight.asnumpy().copy()
    one.weight.asnumpy()[...] = 7
    assert (other.weight.asnumpy() == 7).all()
    np.testing.assert_array_equal(half.weight.asnumpy(), before)
