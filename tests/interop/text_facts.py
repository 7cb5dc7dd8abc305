"""What vocabularies and transforms of texts give, as JSON in the file that is named: run under MindSpore for the facts
of ``tests/data/dataset/text.json``, and by ``msdump run`` for what is compared with them."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import text

FACTS: dict[str, Any] = {}
WORDS = (["a", "b", "c", "b"], ["c", "c", "d"], ["d", "c", "a"])
OTHER = Path(tempfile.mkdtemp()) / "words.txt"


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [str(value.dtype), [each.decode() if isinstance(each, bytes) else each for each in value.tolist()]]
    if isinstance(value, dict):
        return sorted([key, plain(each)] for key, each in value.items())
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def fact(name: str, function: Callable[[], Any]) -> None:
    try:
        FACTS[name] = plain(function())
    except (TypeError, ValueError, RuntimeError) as error:
        kinds = [kind.__name__ for kind in (TypeError, ValueError, RuntimeError) if isinstance(error, kind)]
        FACTS[name] = f"! {kinds[0]}"


def words() -> Any:
    return ds.GeneratorDataset([(np.array(row),) for row in WORDS], ["text"], shuffle=False)


def sentences() -> Any:
    return ds.GeneratorDataset([("a b c b",), ("c c d",)], ["text"], shuffle=False)


def rows(data: Any) -> list[Any]:
    return list(data.create_dict_iterator(num_epochs=1, output_numpy=True))


def written(content: str) -> str:
    OTHER.write_text(content)
    return str(OTHER)


V = text.Vocab
v = V.from_list(["the", "movie", "was", "good"], special_tokens=["<pad>", "<unk>"])
VOCABS: dict[str, Callable[[], Any]] = {
    "first": lambda: v,
    "last": lambda: V.from_list(["a", "b"], special_tokens=["<pad>"], special_first=False),
    "twice": lambda: V.from_list(["a", "a"]),
    "special twice": lambda: V.from_list(["a"], special_tokens=["b", "b"]),
    "special too": lambda: V.from_list(["a"], special_tokens=["a"]),
    "empty": lambda: V.from_list([]),
    "text": lambda: V.from_list("abc"),
    "numbers": lambda: V.from_list([1, 2]),
    "dict": lambda: V.from_dict({"home": 3, "behind": 2, "same": 2}),
    "dict below": lambda: V.from_dict({"home": -3}),
    "dict text": lambda: V.from_dict({"home": "a"}),
    "not built": lambda: V(),
    "set": lambda: V.from_dataset(words(), "text"),
    "set all": lambda: V.from_dataset(words()),
    "set range": lambda: V.from_dataset(words(), "text", freq_range=(None, 2)),
    "set both": lambda: V.from_dataset(words(), ["text"], (2, 3), 2, ["<pad>"], True),
    "set last": lambda: V.from_dataset(words(), "text", top_k=3, special_first=False, special_tokens=["<u>"]),
    "set special": lambda: V.from_dataset(words(), "text", special_tokens=["a"]),
    "set column": lambda: V.from_dataset(words(), "nope"),
    "set sentences": lambda: V.from_dataset(sentences(), "text"),
    "set batch": lambda: V.from_dataset(words().batch(1), "text"),
    "set numbers": lambda: V.from_dataset(ds.NumpySlicesDataset({"x": [1, 2]}), "x"),
    "set none": lambda: V.from_dataset(words(), "text", top_k=0),
    "set many": lambda: V.from_dataset(words(), "text", top_k=100),
    "set turned": lambda: V.from_dataset(words(), "text", freq_range=(3, 2)),
    "set below": lambda: V.from_dataset(words(), "text", freq_range=(-3, 2)),
    "set number": lambda: V.from_dataset(words(), "text", freq_range=3),
    "file": lambda: V.from_file(written("x,1\ny,2\nz\n"), ","),
    "file cut": lambda: V.from_file(written("x,1\ny,2\nz\n"), ",", 2, ["<p>"], False),
    "file whole": lambda: V.from_file(written("x \n y\n\nz\n")),
    "file of returns": lambda: V.from_file(written("x,1\r\ny\r\n")),
    "file twice": lambda: V.from_file(written("x,1\nx\n"), ","),
    "file special": lambda: V.from_file(written("x\nz\n"), special_tokens=["z"]),
    "file none": lambda: V.from_file(written("x\n"), vocab_size=0),
    "file missing": lambda: V.from_file("missing.txt"),
}
for name, made in VOCABS.items():
    fact(f"vocab {name}", lambda made=made: made().vocab())
for tokens in (
    "good",
    ["good", "nope"],
    [],
    np.array(["good", "the"]),
    np.array("good"),
    3,
    b"good",
    np.array([["a"]]),
):
    fact(f"ids {tokens!r}", lambda tokens=tokens: v.tokens_to_ids(tokens))
for ids in (3, [3, 99], np.array([3, 2]), np.array(3), -1, 1.5, True, 2**31):
    fact(f"tokens {ids!r}", lambda ids=ids: v.ids_to_tokens(ids))

TRANSFORMS: dict[str, Callable[[], Any]] = {
    "lookup": lambda: text.Lookup(v, unknown_token="<unk>"),
    "lookup int64": lambda: text.Lookup(v, "<unk>", ms.int64),
    "lookup float": lambda: text.Lookup(v, "<unk>", ms.float32),
    "lookup known": lambda: text.Lookup(v),
    "lookup missing": lambda: text.Lookup(v, "zzz"),
    "lookup numpy": lambda: text.Lookup(v, "<unk>", np.int32),
    "lookup vocab": lambda: text.Lookup(3),
    "lookup token": lambda: text.Lookup(v, 3),
    "whitespace": lambda: text.WhitespaceTokenizer(),
    "whitespace offsets": lambda: text.WhitespaceTokenizer(with_offsets=True),
    "whitespace wrong": lambda: text.WhitespaceTokenizer(3),
    "character": lambda: text.UnicodeCharTokenizer(),
    "character offsets": lambda: text.UnicodeCharTokenizer(True),
    "fold": lambda: text.CaseFold(),
    "python": lambda: text.PythonTokenizer(lambda each: each.upper().split()),
    "int32": lambda: text.ToNumber(ms.int32),
    "uint8": lambda: text.ToNumber(ms.uint8),
    "int8": lambda: text.ToNumber(ms.int8),
    "float32": lambda: text.ToNumber(ms.float32),
    "float64": lambda: text.ToNumber(ms.float64),
    "float16": lambda: text.ToNumber(ms.float16),
    "bool": lambda: text.ToNumber(ms.bool_),
    "pairs": lambda: text.Ngram(2),
    "triples": lambda: text.Ngram(3, ("<", 1), (">", 1), ""),
    "several": lambda: text.Ngram([1, 3, 2], ("_", 2), ("*", 1), "|"),
    "no gram": lambda: text.Ngram(0),
    "window": lambda: text.SlidingWindow(2),
    "window axis": lambda: text.SlidingWindow(2, 1),
    "window none": lambda: text.SlidingWindow(0),
    "truncate": lambda: text.Truncate(2),
    "truncate none": lambda: text.Truncate(0),
    "begin": lambda: text.AddToken("<s>"),
    "end": lambda: text.AddToken("<s>", begin=False),
    "token": lambda: text.AddToken(3),
}
INPUTS = (
    "", " ", " a ", "a\tb\nc", "a\u3000b\xa0c\u200bd", "a\x1cb\x85c\u2028d", "H\u00e4 \u4e2d\u6587 x", "Stra\u00dfe",
    "12", "-1", "300", "1.7", "1e3", "inf", "-nan", "0x10", "1e-40", "1e-320", "1e39", "65520", "6e-8", ".5", "\t4",
    "x", "good", b"a b", 3, ["good", "movie"], ["good", "zzz"], ["1", "2.5"],
    [["good"], ["the"]], [1, 2, 3], [[1, 2, 3], [3, 4, 5]], ["long", "a", "b", "c"],
)  # fmt: skip
for name, make in TRANSFORMS.items():
    for given in INPUTS:
        value = np.array(given) if name == "python" else given
        fact(f"{name} of {given!r}", lambda make=make, value=value: make()(value))
for limit in (1, 3, 4, 5, 9):
    for pair in (([1, 2, 3, 4], [4, 5, 6]), (["a", "b"], ["c", "d", "e"]), ([1, 2, 3, 4, 5], [4])):
        both = [np.array(each) for each in pair]
        fact(f"pair {limit} {pair}", lambda limit=limit, both=both: text.TruncateSequencePair(limit)(*both))
fact("pair alone", lambda: text.TruncateSequencePair(3)(np.array([1])))
fact("to_str", lambda: text.to_str(np.array([b"\xc3\xa4", b"b"])))
fact("to_str list", lambda: text.to_str([b"ab"]))
fact("to_bytes", lambda: text.to_bytes(np.array(["a", "bc"])))
fact("to_bytes list", lambda: text.to_bytes(["a"]))
ab = V.from_list(["a", "b"])
pad = ds.transforms.PadEnd([5], 7)
fact("mapped", lambda: rows(words().map([text.Lookup(ab, "a", ms.int32), pad], ["text"]).batch(3)))
fact("mapped missing", lambda: rows(words().map(text.Lookup(ab), "text")))
fact("mapped words", lambda: rows(sentences().map(text.WhitespaceTokenizer(), "text")))
fact("mapped python", lambda: rows(sentences().map(text.PythonTokenizer(str.split), "text")))
offsets = ["text", "begin", "end"]
fact("mapped offsets", lambda: rows(sentences().map(text.WhitespaceTokenizer(True), ["text"], offsets)))
Path(sys.argv[1]).write_text(json.dumps(FACTS, ensure_ascii=True, indent=0) + "\n")
