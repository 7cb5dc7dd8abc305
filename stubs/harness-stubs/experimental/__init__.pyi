# Written by `python -m tests.stubs`.
from harness.experimental import map_parameter as map_parameter
from harness.experimental import optim as optim
