"""What Ragweave is made of: an SBOM (CycloneDX 1.6), the licences, or pinned requirements, from what is installed.

python .ci/inventory.py sbom | licences | requirements
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENDORED = ROOT / "serve" / "static" / "vendor"
_ROW = re.compile(r"^\| (\S+) (\d[\d.]*) \| `(\S+)` \| `(\S+)`, `\S+` \| (.+?) \|$", re.M)
_USED = re.compile(r"^[A-Za-z0-9._-]+")


def named(name: str) -> str:
    """Return the normal form of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(of: metadata.PackageMetadata) -> str:
    """Return what a package says its licence is, or "" where it says nothing."""
    told = of.get("License-Expression") or ""
    trove = [c.rpartition(" :: ")[2] for c in of.get_all("Classifier") or [] if c.startswith("License ::")]
    first = (of.get("License") or "").strip().split("\n")[0]
    return told or ", ".join(trove) or first[:60]


def installed(extras: tuple[str, ...]) -> list[metadata.Distribution]:
    """Return Ragweave's packages with what they need, extras included, as they are installed here."""
    # What Ragweave itself needs stands in the checkout; an editable install may be older than that.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    there = {named(d.metadata["Name"]): d for d in metadata.distributions()}
    wanted, seen = [("ragweave", extras)], set()
    while wanted:
        name, more = wanted.pop()
        if name not in there or (name, more) in seen:
            continue
        seen.add((name, more))
        own = [*project["dependencies"], *(line for e in more for line in project["optional-dependencies"].get(e, []))]
        for line in own if name == "ragweave" else there[name].requires or []:
            needed, _, marker = line.partition(";")
            if "extra ==" in marker and not any(re.search(f"extra == ['\"]{e}['\"]", marker) for e in more):
                continue
            if found := _USED.match(needed):
                inside = re.search(r"\[(.*?)\]", needed)
                wanted.append((named(found[0]), tuple(inside[1].split(",")) if inside else ()))
    return [there[n] for n in sorted({n for n, _ in seen} - {"ragweave"})]


def vendored() -> list[dict[str, Any]]:
    """Return the scripts in the page: name, version, package and licence by THIRD_PARTY.md, digest by the file."""
    rows = _ROW.findall((ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8"))
    found = {file: (name, version, package, said) for name, version, file, package, said in rows}
    made = []
    for path in sorted(VENDORED.glob("*.js")):
        name, version, package, said = found[path.name]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        row = {"type": "library", "name": name, "version": version, "purl": f"pkg:npm/{package}@{version}"}
        made.append(
            {**row, "hashes": [{"alg": "SHA-256", "content": digest}], "licenses": [{"license": {"name": said}}]}
        )
    return made


def sbom() -> dict[str, Any]:
    """Return the bill of materials."""
    components = []
    for d in installed(EXTRAS):
        name, said = named(d.metadata["Name"]), licence(d.metadata)
        row = {"type": "library", "name": name, "version": d.version, "purl": f"pkg:pypi/{name}@{d.version}"}
        components.append({**row, "licenses": [{"license": {"name": said or "not stated"}}]})
    about = {"type": "application", "name": "ragweave", "version": metadata.version("ragweave")}
    parts = [*components, *vendored()]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": about},
        "components": parts,
    }  # fmt: skip


EXTRAS = ("studio", "serve", "images", "video", "fastembed", "local")


def main() -> None:
    """Print what the command line names."""
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    out: list[str] = []
    if what == "sbom":
        out = [json.dumps(sbom(), indent=1)]
    elif what == "licences":
        rows = [(c["name"], c["version"], c["licenses"][0]["license"]["name"]) for c in sbom()["components"]]
        out = [f"{name:<36} {version:<14} {said}" for name, version, said in rows]
    elif what == "requirements":
        out = [f"{named(d.metadata['Name'])}=={d.version}" for d in installed(EXTRAS)]
    else:
        sys.exit(__doc__)
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
