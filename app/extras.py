"""Optional packages that setup needs: the one line that installs them, and running it after a yes."""

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
"""Characters of pip's last line that are shown."""


def line(extras: Iterable[str]) -> str:
    """Return what to type so that these extras are installed."""
    return f"pip install 'ragweave[{','.join(dict.fromkeys(extras))}]'"


def lacking(extras: Iterable[str]) -> InputError:
    """Return the error of a command that needs extras which are not installed."""
    return InputError("packages are missing", f"install them with: {line(extras)}")


def can_install() -> bool:
    """Say whether pip can be run here: it is there, in an environment of its own, and nothing forbids the network."""
    own = sys.prefix != sys.base_prefix
    return own and find_spec("pip") is not None and not model_settings().offline


def install(extras: Sequence[str]) -> None:
    """Install what extras need with pip, at the versions of `constraints.txt` where the checkout is at hand.

    Raises:
        InputError: pip failed; names the line to type.
    """
    needs = sorted({need for extra in extras for need in requirements(extra)})
    pinned = Path(__file__).resolve().parent.parent / "constraints.txt"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["-c", str(pinned)] if pinned.is_file() else []
    done = subprocess.run([*command, *needs], capture_output=True, text=True, errors="replace", check=False)
    importlib.invalidate_caches()
    if done.returncode or not needs:
        last = next(
            (words for words in reversed(done.stderr.splitlines()) if words.strip()), "it knows no such extra"
        )
        told = " ".join(last.split()).removeprefix("ERROR: ").rstrip(".")[:_LAST]
        raise InputError(f"pip could not install the packages ({told})", f"install them with: {line(extras)}")


@cache
def requirements(extra: str) -> frozenset[str]:
    """Return the requirements that an extra of Ragweave adds, those of extras that it joins among them."""
    from packaging.requirements import Requirement

    found = set[str]()
    for text in metadata.requires("ragweave") or ():
        need = Requirement(text)
        if (
            need.marker is None
            or not need.marker.evaluate({"extra": extra})
            or need.marker.evaluate({"extra": ""})
        ):
            continue
        if need.name == "ragweave":
            found |= {inner for other in need.extras for inner in requirements(other)}
        else:
            need.marker = None
            found.add(str(need))
    return frozenset(found)
