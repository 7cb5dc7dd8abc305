"""Numbers of formats and element types in dump files; format words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.devices.formats import FORMATS, dump_dtypes, numbers
from harness.devices.formats.numbers import FormatWord, format_name, format_number
from harness.errors import DtypeError, UnknownNameError


@pytest.mark.parametrize(
    ("name", "number"),
    [("NCHW", 0), ("NHWC", 1), ("ND", 2), ("NC1HWC0", 3), ("FRACTAL_Z", 4), ("NC1HWC0_C04", 12), ("FRACTAL_Z_C04", 13),
     ("CHWN", 14), ("FRACTAL_DECONV_SP_STRIDE8_TRANS", 15), ("HWCN", 16), ("NC1KHKWHWC0", 17),
     ("HASHTABLE_LOOKUP_LOOKUPS", 20), ("HASHTABLE_LOOKUP_HITS", 24), ("C1HWNCoC0", 25), ("MD", 26), ("NDHWC", 27),
     ("FRACTAL_ZZ", 28), ("FRACTAL_NZ", 29), ("NCDHW", 30), ("DHWCN", 31), ("NDC1HWC0", 32), ("FRACTAL_Z_3D", 33),
     ("CN", 34), ("NC", 35), ("DHWNC", 36), ("FRACTAL_Z_3D_TRANSPOSE", 37), ("FRACTAL_ZN_LSTM", 38),
     ("FRACTAL_Z_G", 39), ("RESERVED", 40), ("ALL", 41), ("NULL", 42), ("ND_RNN_BIAS", 43), ("FRACTAL_ZN_RNN", 44),
     ("YUV", 45), ("YUV_A", 46), ("NCL", 47), ("FRACTAL_NZ_C0_16", 50), ("FRACTAL_NZ_C0_8", 54), ("MAX", 255)],
)  # fmt: skip
def test_format_numbers(name: str, number: int) -> None:
    assert format_number(name) == number
    assert format_name(number) == name


def test_storage_formats_have_numbers_but_for_mindspores_own() -> None:
    assert {name for name in FORMATS if name not in numbers.NUMBERS} == {"DefaultFormat", "ChannelLast"}
    assert format_number("DefaultFormat") == format_number("ND")


def test_numbers_are_told_apart() -> None:
    assert len(set(numbers.NUMBERS.values())) == len(numbers.NUMBERS)
    assert len(set(dump_dtypes.NUMBERS.values())) == len(dump_dtypes.NUMBERS)


@pytest.mark.parametrize("number", [-1, 48, 55, 254, 256])
def test_unknown_format_number(number: int) -> None:
    with pytest.raises(UnknownNameError, match=f"no format has number {number}"):
        format_name(number)


def test_unknown_format_name() -> None:
    with pytest.raises(UnknownNameError, match="no format is called 'NHCW'"):
        format_number("NHCW")


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        (0x05000003, FormatWord("NC1HWC0", 0, 16)),
        (0x04000003, FormatWord("NC1HWC0", 0, 8)),
        (0x06000003, FormatWord("NC1HWC0", 0, 32)),
        (0x00000403, FormatWord("NC1HWC0", 4, None)),
        (0x00000002, FormatWord("ND", 0, None)),
    ],
)
def test_format_words(word: int, parts: FormatWord) -> None:
    assert FormatWord.unpack(word) == parts
    assert parts.pack() == word


@given(
    st.sampled_from(sorted(numbers.NUMBERS)),
    st.integers(0, 65535),
    st.none() | st.integers(0, 14).map(lambda x: 1 << x),
)
def test_words_round_trip(name: str, groups: int, c0: int | None) -> None:
    parts = FormatWord(name, groups, c0)
    assert FormatWord.unpack(parts.pack()) == parts


@pytest.mark.parametrize("parts", [FormatWord("ND", -1), FormatWord("ND", 65536), FormatWord("ND", 0, 12),
                                   FormatWord("ND", 0, 0), FormatWord("ND", 0, 1 << 15)])  # fmt: skip
def test_parts_that_do_not_fit(parts: FormatWord) -> None:
    with pytest.raises(ValueError, match=r"in a format word|a format word holds"):
        parts.pack()


def test_a_word_of_more_bits() -> None:
    with pytest.raises(ValueError, match="has 32 bits"):
        FormatWord.unpack(1 << 32)


@pytest.mark.parametrize(
    ("dtype", "number"),
    [(dtypes.float32, 1), (dtypes.float16, 2), (dtypes.int8, 3), (dtypes.uint8, 4), (dtypes.int16, 5),
     (dtypes.uint16, 6), (dtypes.int32, 7), (dtypes.int64, 8), (dtypes.uint32, 9), (dtypes.uint64, 10),
     (dtypes.bool_, 11), (dtypes.float64, 12), (dtypes.complex64, 16), (dtypes.complex128, 17), (dtypes.bfloat16, 27)],
)  # fmt: skip
def test_element_types(dtype: dtypes.DType, number: int) -> None:
    assert dump_dtypes.dtype_number(dtype) == number
    assert dump_dtypes.dtype_of(number) is dtype


def test_every_dtype_has_a_number() -> None:
    assert {dump_dtypes.dtype_of(dump_dtypes.dtype_number(d)) for d in dtypes.ALL} == set(dtypes.ALL)


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, "UNDEFINED"), (13, "STRING"), (23, "RESOURCE"), (28, "INT4"), (29, "UINT1"), (32, "COMPLEX32"),
     (33, "HIFLOAT8"), (34, "FLOAT8_E5M2"), (35, "FLOAT8_E4M3FN"), (36, "FLOAT8_E8M0"), (37, "FLOAT6_E3M2"),
     (40, "FLOAT4_E1M2")],
)  # fmt: skip
def test_element_types_that_are_no_dtype(number: int, name: str) -> None:
    assert dump_dtypes.dtype_name(number) == name
    with pytest.raises(DtypeError, match=f"element type {name}"):
        dump_dtypes.dtype_of(number)


@pytest.mark.parametrize("number", [-1, 42, 10000])
def test_unknown_element_type(number: int) -> None:
    with pytest.raises(UnknownNameError, match=f"no element type has number {number}"):
        dump_dtypes.dtype_of(number)
