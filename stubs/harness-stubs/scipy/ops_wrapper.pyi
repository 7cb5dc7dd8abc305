# Written by `python -m tests.stubs`.
from harness.framework.ops.primitives.later import MatrixSetDiagV3 as MatrixSetDiagV3
