# Written by `python -m tests.stubs`.
from harness.profiler.dynamic_profile import dynamic_monitor_proxy as dynamic_monitor_proxy
from harness.profiler.dynamic_profile import dynamic_profiler_config_context as dynamic_profiler_config_context
from harness.profiler.dynamic_profile import dynamic_profiler_utils as dynamic_profiler_utils
