"""``python -m harness.cli``: the ``msdump`` command without its script."""

import sys

from harness.cli import main

sys.exit(main())
