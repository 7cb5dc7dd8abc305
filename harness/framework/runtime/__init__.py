"""Running: a session compiles what is called, executes it kernel by kernel, and tells observers."""

from harness.framework.names import fallback as _fallback

__getattr__ = _fallback(__name__)
