# Written by `python -m tests.stubs`.
from harness.framework.ops.primitives.matrices import MatrixSetDiagV3 as MatrixSetDiagV3
