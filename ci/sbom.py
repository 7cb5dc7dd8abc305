"""Writes the bill of materials of a wheel (CycloneDX 1.6, JSON): the wheel's hash, what it needs, what it carries.

``python ci/sbom.py dist/pytest_msdump-*.whl > sbom.cdx.json``. Equal wheels have equal bills: there is no time and no
random number in them.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

#: What the wheel carries of others, unchanged: name and version, its file, its licence.
VENDORED = (
    ("@dagrejs/dagre", "3.1.3", "harness/report/static/vendor/dagre.min.js", "MIT"),
)  # fmt: skip
_REQUIRED = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*)(?:;\s*(.*))?")


def bill(wheel: Path) -> dict[str, Any]:
    """The bill of a wheel.

    Args:
        wheel: its path.

    Raises:
        KeyError: the wheel lacks a file that it should carry.
    """
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
        carried = [_vendored(*each, archive.read(each[2])) for each in VENDORED]
    package = {
        **_component(metadata["Name"], metadata["Version"], f"pkg:pypi/{metadata['Name']}@{metadata['Version']}"),
        "licenses": [{"expression": metadata["License-Expression"]}],
        "hashes": [_hash(wheel.read_bytes())],
    }
    needed = [_required(each) for each in sorted(metadata.get_all("Requires-Dist", []))]
    reference = package["bom-ref"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": package},
        "components": [*carried, *needed],
        "dependencies": [{"ref": reference, "dependsOn": sorted({each["bom-ref"] for each in [*carried, *needed]})}],
    }


def _component(name: str, version: str, url: str) -> dict[str, Any]:
    found = {"type": "library", "bom-ref": url, "name": name, "purl": url}
    return found | ({"version": version} if version else {})


def _vendored(name: str, version: str, path: str, licence: str, content: bytes) -> dict[str, Any]:
    found = _component(name, version, f"pkg:npm/{name.replace('@', '%40')}@{version}")
    place = {"evidence": {"occurrences": [{"location": path}]}}
    return {**found, **place, "hashes": [_hash(content)], "licenses": [{"license": {"id": licence}}]}


def _required(text: str) -> dict[str, Any]:
    """A requirement: which versions do, and under which condition, as the wheel's metadata say it."""
    match = _REQUIRED.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a requirement: {text!r}")
    name, versions, condition = match[1], match[2].strip(), match[3] or ""
    said = {"msdump:versions": versions, "msdump:condition": condition}
    properties = [{"name": key, "value": value} for key, value in said.items() if value]
    reference = f"pkg:pypi/{name.lower().replace('_', '-')}"
    scope = "optional" if "extra" in condition else "required"
    found = {**_component(name, "", reference), "scope": scope, "properties": properties}
    return found | {"bom-ref": f"{reference}#{text.replace(' ', '')}"}


def _hash(content: bytes) -> dict[str, str]:
    return {"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1])), indent=1, sort_keys=True))
