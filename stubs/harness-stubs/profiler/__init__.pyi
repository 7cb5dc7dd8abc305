# Written by `python -m tests.stubs`.
from harness.profiler import dynamic_profile as dynamic_profile
from harness.profiler import dynamic_profiler as dynamic_profiler
from harness.profiler import envprofiler as envprofiler
from harness.profiler import experimental_config as experimental_config
from harness.profiler import profiler as profiler
from harness.profiler import profiler_action_controller as profiler_action_controller
from harness.profiler import profiler_interface as profiler_interface
