"""The capability table agrees with the documents and the measurements."""

from __future__ import annotations

import pytest

from harness.devices import DEVICES
from harness.devices.capabilities import FEATURES, MODES, Capabilities, Support, refused
from harness.errors import UnknownNameError, UnsupportedError

#: feature -> cpu, gpu, ascend-o0, ascend-o2; y yes, i ignored, w warned, r refused, a absent
TABLE = {
    "tensor": "yyyy",
    "statistic": "ryyy",
    "full": "ryyy",
    "device_statistics": "wwyr",
    "sample": "iiyr",
    "overflow": "iiyy",
    "exception": "wwyy",
    "kernel_args": "iyyr",
    "set_dump": "rryr",
    "asynchronous": "wwyy",
    "trans_flag": "iiyr",
    "support_device": "iyyy",
    "useless_outputs": "iyya",
    "graphs": "yyya",
    "global_order": "yyaa",
    "metadata": "yyaa",
    "parameters": "yyaa",
    "constants": "yyaa",
}
LETTERS = {"y": "yes", "i": "ignored", "w": "warned", "r": "refused", "a": "absent"}


def test_every_feature_is_in_the_table() -> None:
    assert TABLE.keys() == FEATURES.keys()
    assert set(MODES) <= FEATURES.keys()


@pytest.mark.parametrize("feature", FEATURES)
def test_answers(feature: str) -> None:
    found = [str(DEVICES.get(name).capabilities[feature]) for name in ("cpu", "gpu", "ascend-o0", "ascend-o2")]
    assert found == [LETTERS[letter] for letter in TABLE[feature]]


def test_levels_launched_kernel_by_kernel_are_alike() -> None:
    assert DEVICES.get("ascend-o0").capabilities is DEVICES.get("ascend-o1").capabilities


@pytest.mark.parametrize("name", list(DEVICES))
def test_what_is_not_there_has_a_reason(name: str) -> None:
    capabilities = DEVICES.get(name).capabilities
    for feature in capabilities:
        answer = capabilities[feature]
        assert bool(answer) == capabilities.has(feature) == (answer.support is Support.YES)
        if answer:
            capabilities.require(feature, name)
            continue
        with pytest.raises(UnsupportedError) as caught:
            capabilities.require(feature, name)
        assert str(caught.value).startswith(f"{name} has no {feature} (")
        assert str(caught.value).endswith(answer.gist)
        assert answer.gist


def test_modes() -> None:
    assert DEVICES.get("cpu").capabilities.modes == ("tensor",)
    assert DEVICES.get("gpu").capabilities.modes == ("tensor", "statistic", "full")
    assert DEVICES.get("ascend-o1").capabilities.modes == MODES
    assert "sample" not in DEVICES.get("ascend-o2").capabilities.modes


def test_unknown_features() -> None:
    with pytest.raises(UnknownNameError, match="no dump feature is called 'stats'; known are tensor"):
        DEVICES.get("cpu").capabilities["stats"]
    with pytest.raises(UnknownNameError, match=r"no dump features are called \['stats'\]"):
        Capabilities({"stats": refused("no")})
