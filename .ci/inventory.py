"""What Ragweave with all its extras is made of: an SBOM (CycloneDX 1.6), the licences, or pinned requirements.

python .ci/inventory.py sbom | licences | requirements | extras
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

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
VENDORED = ROOT / "serve" / "static" / "vendor"
REPORT = ROOT / ".cache" / "packages.json"
_ROW = re.compile(r"^\| (\S+) (\d[\d.]*) \| `(\S+)` \| `(\S+)`, `\S+` \| (.+?) \|$", re.M)


def named(name: str) -> str:
    """Return the normal form of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(of: dict[str, Any]) -> str:
    """Return what the metadata of a package, as JSON, say its licence is, or "" where they say nothing."""
    told = of.get("license_expression") or ""
    trove = [c.rpartition(" :: ")[2] for c in of.get("classifier") or [] if c.startswith("License ::")]
    first = (of.get("license") or "").strip().split("\n")[0]
    return told or ", ".join(trove) or first[:60]


def project() -> dict[str, Any]:
    """Return the project of the checkout; an editable install may be older than that."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def extras() -> tuple[str, ...]:
    """Return every extra but that of development."""
    return tuple(name for name in project()["optional-dependencies"] if name != "dev")


def packages() -> list[dict[str, Any]]:
    """Return the metadata of everything that all extras need.

    They come from pip's report of a dry run (`make` writes it), and without one from what is installed here;
    what is missing then is told on stderr.
    """
    if REPORT.is_file():
        rows = json.loads(REPORT.read_text(encoding="utf-8"))["install"]
        found = [row["metadata"] for row in rows]
        return sorted((m for m in found if named(m["name"]) != "ragweave"), key=lambda m: named(m["name"]))
    return [d.metadata.json for d in installed(extras())]


def installed(extras: tuple[str, ...]) -> list[metadata.Distribution]:
    """Return Ragweave's packages with what they need, extras included, as they are installed here."""
    there = {named(d.metadata["Name"]): d for d in metadata.distributions()}
    known = project()
    wanted, seen, missing = [("ragweave", extras)], set(), set()
    while wanted:
        name, more = wanted.pop()
        if (name, more) in seen:
            continue
        if name not in there:
            missing.add(name)
            continue
        seen.add((name, more))
        own = [
            *known["dependencies"],
            *(line for e in more for line in known["optional-dependencies"].get(e, [])),
        ]
        for line in own if name == "ragweave" else there[name].requires or []:
            need = Requirement(line)
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *more)):
                wanted.append((named(need.name), tuple(sorted(need.extras))))
    if missing:
        sys.stderr.write(f"Not installed here, and left out: {', '.join(sorted(missing))}\n")
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
            {
                **row,
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "licenses": [{"license": {"name": said}}],
            }
        )
    return made


def sbom() -> dict[str, Any]:
    """Return the bill of materials."""
    components = []
    for found in packages():
        name, version, said = named(found["name"]), found["version"], licence(found)
        row = {"type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name}@{version}"}
        components.append({**row, "licenses": [{"license": {"name": said or "not stated"}}]})
    about = {"type": "application", "name": "ragweave", "version": metadata.version("ragweave")}
    parts = [*components, *vendored()]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": about},
        "components": parts,
    }  # fmt: skip


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
        out = [f"{named(found['name'])}=={found['version']}" for found in packages()]
    elif what == "extras":
        out = [",".join(extras())]
    else:
        sys.exit(__doc__)
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
