"""msprobe's way to a dump: its ``config.json``, and the ``dump.json`` layout its ``compare`` reads."""
