"""The files of a home are its owner's alone: 0600, and folders 0700."""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger(__name__)

OTHERS = 0o077
"""The bits that let a group or others in."""


def make_home(home: Path) -> None:
    """Make a home that only its owner can enter, or close an existing one to others.

    Raises:
        OSError: it cannot be made.
    """
    if os.name != "posix":
        home.mkdir(parents=True, exist_ok=True)
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    seen = home.stat()
    if seen.st_mode & OTHERS and seen.st_uid == os.geteuid():
        _close(home)
        logger.warning("%s could be read by other users of this machine; now it is yours alone", home)


def _close(home: Path) -> None:
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            with suppress(OSError):  # it has just gone, or belongs to somebody else
                mode = os.lstat(path).st_mode
                if not stat.S_ISLNK(mode):
                    os.chmod(path, stat.S_IMODE(mode) & ~OTHERS)
    home.chmod(0o700)  # last: it says that the rest is done
