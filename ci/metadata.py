"""What the package's metadata says of the project's home: links of the README, and the project's addresses.

The home is not written in this repository. ``MSDUMP_HOME=https://HOST/OWNER/NAME python -m build`` gives it; the
README's links then lead there. Without it they are plain words, so that no index page shows a link that leads nowhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # the tests read this file where hatchling is not installed
    MetadataHookInterface = object

#: what the project's page on an index names, and where it lies below the home
PAGES = {
    "Source": "",
    "Documentation": "/tree/main/docs",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
    "Security": "/security/policy",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def described(readme: str, home: str) -> str:
    """The README with absolute links below ``home``; with an empty one, what relative links say, and no picture."""

    def absolute(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        if not home:
            return "" if picture else text
        return f"{picture}[{text}]({home}/{'raw' if picture else 'blob'}/main/{target})"

    return _LINK.sub(absolute, readme)


class Home(MetadataHookInterface):  # type: ignore[misc,valid-type]
    """Hatchling's hook; see the module."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds the README and the addresses."""
        home = os.environ.get("MSDUMP_HOME", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": described(text, home)}
        metadata["urls"] = {name: home + below for name, below in PAGES.items()} if home else {}
