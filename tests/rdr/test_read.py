"""Texts read back as they were written, and damaged ones refused."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ArtefactError
from harness.memory.addresses import Address, Addresses
from harness.rdr.read import KernelMemory, execution_orders, memory_addresses
from harness.rdr.recorders.execution_order import HEADING, OrderEntry, order_text
from harness.rdr.recorders.memory import kernel_text

words = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12)
#: a tensor's value goes over several lines
kernel_texts = st.builds(
    lambda a, b: "\n [".join(["@kernel_graph0:x{" + a, *b]) + "}", words, st.lists(words, max_size=3)
)
numbers = st.integers(0, 2**32 - 1)
entries = st.builds(OrderEntry, kernel_texts, numbers, st.integers(0, 1000))
blocks = st.lists(st.lists(entries, max_size=4).map(tuple), max_size=3)

address = st.builds(Address, st.integers(1, 2**64 - 1), st.integers(0, 2**40))
groups = st.lists(address, max_size=3).map(tuple)
names = st.text("abcXYZ/-0123", min_size=1).map("Default/{}-op0".format)
kernels = st.lists(st.tuples(names, st.builds(Addresses, groups, groups, groups)), max_size=4)


@given(blocks)
def test_execution_orders_are_read_as_written(written: list[tuple[OrderEntry, ...]]) -> None:
    assert execution_orders("".join(map(order_text, written))) == written


@given(kernels)
def test_addresses_are_read_as_written(written: list[tuple[str, Addresses]]) -> None:
    text = "".join(kernel_text(name, of) for name, of in written)
    expected = [
        KernelMemory(name, of, (len(of.inputs), len(of.workspaces), len(of.outputs))) for name, of in written
    ]  # fmt: skip
    assert memory_addresses(text) == expected


def test_entries_without_an_address_count() -> None:
    of = Addresses((Address(None, 0), Address(16, 4)), (), ())
    (kernel,) = memory_addresses(kernel_text("a", of))
    assert kernel.counts == (2, 0, 0)
    assert kernel.addresses.inputs == (Address(16, 4),)


@given(st.sampled_from([execution_orders, memory_addresses]), st.text("\t\n=:x0kernel_iputs #&", max_size=80))
def test_any_text_is_read_or_refused(read: Any, text: str) -> None:
    with contextlib.suppress(ArtefactError):
        read(text)


@given(blocks.filter(any), st.data())
def test_a_line_that_is_lost_is_missed(written: list[tuple[OrderEntry, ...]], data: st.DataObject) -> None:
    lines = order_text(written[0]).splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    left = "".join(lines[:at] + lines[at + 1 :])
    with contextlib.suppress(ArtefactError):
        assert execution_orders(left) != [written[0]]


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (execution_orders, f"{HEADING}\n", "the end'; accepted: another line"),
        (execution_orders, f"{HEADING}\nexecution_order size: x\n", "line 2: 'execution_order size: x'"),
        (execution_orders, order_text([]) + "x\n", "line 4: 'x'"),
        (execution_orders, order_text([])[:-1], "a newline at the end"),
        (memory_addresses, "a\nkernel_inputs 0\nkernel_outputs 0\n", "line 3"),
        (memory_addresses, "a\nkernel_inputs 0\n&0x1 #2\n", "at most 0 addresses"),
    ],
)
def test_damaged_texts_name_the_line(read: Any, text: str, words: str) -> None:
    with pytest.raises(ArtefactError, match=f"some/file.*{words}"):
        read(text, "some/file")
