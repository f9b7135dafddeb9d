"""Optional packages that setup needs: the pip command that installs them, and running it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings

_LAST = 200
"""Characters of pip's last line that an error shows."""


def line(extras: Iterable[str]) -> str:
    """Return the command that installs these extras."""
    return f"pip install 'ragweave[{','.join(dict.fromkeys(extras))}]'"


def lacking(extras: Iterable[str]) -> InputError:
    """Return the error of a command whose extras are not installed."""
    return InputError("packages are missing", f"install them with: {line(extras)}")


def can_install() -> bool:
    """Return whether pip can be run: in a virtual environment that has it, with the network allowed."""
    is_virtual = sys.prefix != sys.base_prefix
    return is_virtual and find_spec("pip") is not None and not model_settings().offline


def install(extras: Sequence[str]) -> None:
    """Install extras with pip; in a checkout, at the versions of `constraints.txt`.

    Raises:
        InputError: pip failed; the remedy is the command to type.
    """
    needs: set[str] = set()
    for extra in extras:
        needs |= requirements(extra)
    pinned = Path(__file__).resolve().parent.parent / "constraints.txt"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    if pinned.is_file():
        command += ["-c", str(pinned)]
    command += sorted(needs)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    importlib.invalidate_caches()
    if done.returncode or not needs:
        lines = done.stderr.strip().splitlines() or ["it knows no such extra"]
        reason = " ".join(lines[-1].split()).removeprefix("ERROR: ").rstrip(".")[:_LAST]
        raise InputError(
            f"pip could not install the packages ({reason})", f"install them with: {line(extras)}"
        )


@cache
def requirements(extra: str) -> frozenset[str]:
    """Return the requirements that an extra of Ragweave adds, also through other extras."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    for text in metadata.requires("ragweave") or ():
        requirement = Requirement(text)
        marker = requirement.marker
        # The base install includes a requirement without a marker, or whose marker needs no extra.
        if marker is None or marker.evaluate({"extra": ""}) or not marker.evaluate({"extra": extra}):
            continue
        if requirement.name == "ragweave":
            for other in requirement.extras:
                found |= requirements(other)
        else:
            requirement.marker = None
            found.add(str(requirement))
    return frozenset(found)
