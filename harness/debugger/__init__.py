"""``PrecisionDebugger`` as msprobe has it: what cells and functions of the emulator take and give, call by call."""
