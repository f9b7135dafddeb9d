"""What a child process of Python is started with."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|DATABASE_URL", re.I)
"""Variables that a process which opens strangers' files has no business with."""


def environment() -> dict[str, str]:
    """Return the variables for a process that opens strangers' files."""
    kept = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    return {**kept, "PYTHONPATH": import_path()}


def import_path() -> str:
    """Return the folders that modules are found in, for the PYTHONPATH of a child.

    A package that lies in another of these folders is left out: OpenCV puts its own in front while it is
    imported, in which its `typing` would stand before Python's.
    """
    folders = [p for p in sys.path if p]
    return os.pathsep.join(
        p for p in folders if str(Path(p).parent) not in folders or not Path(p, "__init__.py").is_file()
    )
