"""``mindspore.dataset.text``: vocabularies, and transforms of texts that need no files of their own."""

from harness.framework.dataset.text.sequences import (
    AddToken,
    Ngram,
    SlidingWindow,
    Truncate,
    TruncateSequencePair,
)
from harness.framework.dataset.text.tokens import (
    CaseFold,
    Lookup,
    PythonTokenizer,
    ToNumber,
    UnicodeCharTokenizer,
    WhitespaceTokenizer,
)
from harness.framework.dataset.text.vocab import Vocab, to_bytes, to_str
from harness.framework.names import fallback as _fallback
from harness.framework.outside import keep_outside as _keep_outside

__all__ = [
    "AddToken", "CaseFold", "Lookup", "Ngram", "PythonTokenizer", "SlidingWindow", "ToNumber", "Truncate",
    "TruncateSequencePair", "UnicodeCharTokenizer", "Vocab", "WhitespaceTokenizer", "to_bytes", "to_str",
]  # fmt: skip

for _name in __all__:
    if isinstance(globals()[_name], type) and _name != "Vocab":
        _keep_outside(globals()[_name], ("__call__",))
__getattr__ = _fallback(__name__)
