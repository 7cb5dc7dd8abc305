# Written by `python -m tests.stubs`.
from harness.scipy.optimize import gradient_optimization_algorithm as gradient_optimization_algorithm
