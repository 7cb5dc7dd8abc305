"""The recorder's list of addresses for two runs with other addresses and another order of kernels."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.backends.mindspore.process import steady
from harness.rdr.read import memory_addresses

NAME = "RUNTIME_FRAMEWORK.mem_address_list.txt"
GROUPS = ("inputs", "workspaces", "outputs")
SIZES = st.lists(st.integers(0, 1 << 40), max_size=3)
NAMES = st.integers(0, 9).map("Default/Add-op{}".format)
KERNELS = st.dictionaries(NAMES, st.tuples(SIZES, SIZES, SIZES))


def written(kernels: dict[str, tuple[list[int], ...]], order: list[str], address: int) -> bytes:
    lines = []
    for name in order:
        lines.append(name)
        for group, sizes in zip(GROUPS, kernels[name], strict=True):
            lines.append(f"kernel_{group} {len(sizes)}")
            lines += [f"&0x{address + 8 * len(lines):x} #{size}" for size in sizes]
        lines.append("")
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.long
@given(KERNELS, st.randoms(use_true_random=False))
def test_two_runs_are_one_text(kernels: dict[str, tuple[list[int], ...]], random: Random) -> None:
    runs = []
    for _ in range(2):
        order = random.sample(sorted(kernels), len(kernels))
        runs.append(written(kernels, order, random.getrandbits(47)))
    one, other = (steady(NAME, run) for run in runs)
    assert one == other
    assert one == steady(NAME, one)
    parsed = {kernel.name: kernel.addresses for kernel in memory_addresses(runs[0].decode())}
    assert {
        name: tuple([each.size for each in getattr(addresses, group)] for group in GROUPS)
        for name, addresses in parsed.items()
    } == kernels
    assert sorted(one.decode().split()) == sorted(re.sub("&0x[0-9a-f]+", "&", runs[0].decode()).split())


@given(st.binary())
def test_other_texts_stay(text: bytes) -> None:
    assert steady("SESSION.graph_exec_order.0.txt", text) == text
