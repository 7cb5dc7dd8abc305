# Written by `python -m tests.stubs`.
from harness.mint.optim import adam as adam
from harness.mint.optim import adamw as adamw
from harness.mint.optim import fused_adamw as fused_adamw
from harness.mint.optim import sgd as sgd
