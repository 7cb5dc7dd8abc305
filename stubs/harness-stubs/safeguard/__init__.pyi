# Written by `python -m tests.stubs`.
from harness.safeguard import rewrite_obfuscation as rewrite_obfuscation
