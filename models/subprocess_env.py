"""Prepare the environment of a child process of Python."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|DATABASE_URL", re.I)
"""Names of variables that a process for untrusted files must not see."""


def environment() -> dict[str, str]:
    """Return the variables for a process that opens untrusted files."""
    kept: dict[str, str] = {}
    for name, value in os.environ.items():
        if not _SECRET.search(name):
            kept[name] = value
    kept["PYTHONPATH"] = import_path()
    return kept


def import_path() -> str:
    """Return the folders of modules for the PYTHONPATH of a child.

    A package inside another of these folders is left out. OpenCV adds its own package while it is imported,
    and its `typing` would hide Python's.
    """
    folders = list(filter(None, sys.path))
    kept: list[str] = []
    for folder in folders:
        is_package = Path(folder, "__init__.py").is_file()
        if not is_package or str(Path(folder).parent) not in folders:
            kept.append(folder)
    return os.pathsep.join(kept)
