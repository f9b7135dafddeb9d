"""The bill of materials: what is needed stands in it, the scripts in the page with their digests."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IN_THE_PAGE = {"marked", "DOMPurify", "Temml"}


def told(what: str) -> str:
    command = [sys.executable, str(ROOT / ".ci" / "inventory.py"), what]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_bill_of_materials_names_every_dependency_and_every_script_of_the_page_as_it_is() -> None:
    made = json.loads(told("sbom"))
    parts = {part["name"]: part for part in made["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.sub(r"[-_.]+", "-", re.split(r"[<>=\[;]", d)[0]).lower() for d in project["dependencies"]}
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6") and needed <= parts.keys()
    assert all(part["version"] and part["purl"] and part["licenses"] for part in parts.values())
    scripts = sorted((ROOT / "serve" / "static" / "vendor").glob("*.js"))
    digests = {part["hashes"][0]["content"] for part in parts.values() if "hashes" in part}
    assert digests == {hashlib.sha256(path.read_bytes()).hexdigest() for path in scripts}
    assert all(any(parts[name]["version"] in p.read_text() for p in scripts) for name in IN_THE_PAGE)


def test_licences_and_requirements_are_told_of_the_same_packages() -> None:
    licences = {line.split()[0] for line in told("licences").splitlines()}
    pinned = {line.partition("==")[0] for line in told("requirements").splitlines()}
    assert pinned == licences - IN_THE_PAGE and len(pinned) > 50
