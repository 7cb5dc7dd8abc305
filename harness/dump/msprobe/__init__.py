"""Dumps by msprobe's rules: its ``config.json``, and the ``dump.json`` layout its ``compare`` reads."""
