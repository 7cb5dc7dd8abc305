# Written by `python -m tests.stubs`.
from harness.framework.dataset.text.vocab import Vocab as Vocab
from harness.framework.dataset.text.vocab import to_bytes as to_bytes
from harness.framework.dataset.text.vocab import to_str as to_str
