"""Programs of PyTorch's libraries run captured as they run alone, and nothing of them goes unread."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

if find_spec("lightning") is None:
    pytest.skip("needs PyTorch's libraries: tox -e zoo", allow_module_level=True)

from tests.capture.torch.alone import a_tripled_value_fails, same_captured_and_alone
from tests.zoo.operators import declare_operators

declare_operators()

from tests.zoo.programs import CASES  # noqa: E402

SAMPLE = ("lightning_fit", "accelerate", "generate", "experts", "lora")
NAMES = SAMPLE if os.environ.get("MSDUMP_ZOO") == "sample" else tuple(CASES)
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.parametrize("name", NAMES)]


@pytest.mark.parametrize("granularity", ["operators", "modules"])
def test_the_same_captured_and_alone(name: str, granularity: str) -> None:
    same_captured_and_alone(CASES[name], granularity)


def test_a_tripled_value_fails(name: str) -> None:
    a_tripled_value_fails(CASES[name])
