"""Numbers of formats in dump files and format words.

Source: the table of the installed msaccucmp 26.2.0 (0 to 46), MindSpore's proto for the same numbers, the vendor's
header for the later ones. MindSpore counts its formats otherwise inside; those numbers are in no file.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import UnknownNameError

_FIRST = (
    "NCHW", "NHWC", "ND", "NC1HWC0", "FRACTAL_Z", "NC1C0HWPAD", "NHWC1C0", "FSR_NCHW", "FRACTAL_DECONV", "C1HWNC0",
    "FRACTAL_DECONV_TRANSPOSE", "FRACTAL_DECONV_SP_STRIDE_TRANS", "NC1HWC0_C04", "FRACTAL_Z_C04", "CHWN",
    "FRACTAL_DECONV_SP_STRIDE8_TRANS", "HWCN", "NC1KHKWHWC0", "BN_WEIGHT", "FILTER_HWCK", "HASHTABLE_LOOKUP_LOOKUPS",
    "HASHTABLE_LOOKUP_KEYS", "HASHTABLE_LOOKUP_VALUE", "HASHTABLE_LOOKUP_OUTPUT", "HASHTABLE_LOOKUP_HITS", "C1HWNCoC0",
    "MD", "NDHWC", "FRACTAL_ZZ", "FRACTAL_NZ", "NCDHW", "DHWCN", "NDC1HWC0", "FRACTAL_Z_3D", "CN", "NC", "DHWNC",
    "FRACTAL_Z_3D_TRANSPOSE", "FRACTAL_ZN_LSTM", "FRACTAL_Z_G", "RESERVED", "ALL", "NULL", "ND_RNN_BIAS",
    "FRACTAL_ZN_RNN", "YUV", "YUV_A", "NCL",
)  # fmt: skip

#: number of each format, by its name
NUMBERS: dict[str, int] = dict(zip(_FIRST, range(len(_FIRST)), strict=True)) | {
    "FRACTAL_NZ_C0_16": 50,
    "FRACTAL_NZ_C0_32": 51,
    "FRACTAL_NZ_C0_2": 52,
    "FRACTAL_NZ_C0_4": 53,
    "FRACTAL_NZ_C0_8": 54,
    "MAX": 255,
}
_NAMES = {number: name for name, number in NUMBERS.items()}

#: names of MindSpore that stand for another format's number in files
_ALIASES = {"DefaultFormat": "ND"}

#: what msaccucmp prints where it prints something else
_MSACCUCMP = {
    "FRACTAL_DECONV_SP_STRIDE8_TRANS": "DECONV_SP_STRIDE8_TRANS",
    "HASHTABLE_LOOKUP_LOOKUPS": "LOOKUP_LOOKUPS",
    "HASHTABLE_LOOKUP_KEYS": "LOOKUP_KEYS",
    "HASHTABLE_LOOKUP_VALUE": "LOOKUP_VALUE",
    "HASHTABLE_LOOKUP_OUTPUT": "LOOKUP_OUTPUT",
    "HASHTABLE_LOOKUP_HITS": "LOOKUP_HITS",
}


def format_number(name: str) -> int:
    """Number of format ``name`` (``DefaultFormat`` is ND); ``UnknownNameError`` otherwise."""
    try:
        return NUMBERS[_ALIASES.get(name, name)]
    except KeyError:
        raise UnknownNameError(f"no format is called {name!r}; known are {', '.join(NUMBERS)}") from None


def format_name(number: int) -> str:
    """Name of format ``number``; ``UnknownNameError`` if there is none."""
    try:
        return _NAMES[number]
    except KeyError:
        raise UnknownNameError(f"no format has number {number}; known are 0 to 47, 50 to 54 and 255") from None


def printed_name(name: str) -> str:
    """``name`` as msaccucmp prints it in file names."""
    return _MSACCUCMP.get(name, name)


@dataclass(frozen=True, slots=True)
class FormatWord:
    """What the 32 bits of a tensor's format say.

    Attributes:
        name: primary format.
        groups: sub-format: groups of the convolution, 0 where it says nothing.
        c0: C0, or None where it is not encoded.
    """

    name: str
    groups: int = 0
    c0: int | None = None

    @staticmethod
    def unpack(word: int) -> FormatWord:
        """The parts of ``word``: bits 0-7 the number, 8-23 the groups, 24-27 a code x of C0 = 2 ** (x - 1)."""
        if not 0 <= word < 1 << 32:
            raise ValueError(f"a format word has 32 bits, got {word:#x}")
        code = word >> 24 & 0xF
        return FormatWord(format_name(word & 0xFF), word >> 8 & 0xFFFF, 1 << code - 1 if code else None)

    def pack(self) -> int:
        """The word; ``ValueError`` if a part does not fit (groups of 16 bits, C0 a power of 2 up to 2 ** 14)."""
        if not 0 <= self.groups < 1 << 16:
            raise ValueError(f"a format word holds 0 to 65535 groups, got {self.groups}")
        code = 0
        if self.c0 is not None:
            code = self.c0.bit_length()
            if self.c0 < 1 or self.c0 & self.c0 - 1 or code > 15:
                raise ValueError(f"C0 in a format word is a power of 2 from 1 to 16384, got {self.c0}")
        return code << 24 | self.groups << 8 | format_number(self.name)
