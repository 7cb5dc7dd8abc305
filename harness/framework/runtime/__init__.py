"""Running: a session compiles what is called, executes it kernel by kernel, and tells observers."""
