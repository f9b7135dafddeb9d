"""Opening the pictures that a text links to: inside the folders being indexed, and never over a network."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import stat
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from ragweave.models.errors import SourceError

MOST_BYTES = 128 * 2**20
"""Largest picture file that is opened."""
_LONGEST = 2_000
"""Bytes of a path; PostgreSQL has no room for more in an index."""
_DATA = re.compile(r"data:image/[\w.+-]+;base64,", re.I)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_REMEDY = "save the picture beside the text and link to it there"


def linked(file: Path, ref: str, roots: Sequence[str], found: MutableMapping[str, str]) -> tuple[bytes, str]:
    """Return the bytes of a linked picture and the name of its file.

    `found` takes the path of each picture inside the roots, and how its file looked (`state_of`).

    Raises:
        SourceError: it leads elsewhere, to nothing, or to what is not a file.
    """
    ref = ref.strip()
    data = _DATA.match(ref)
    if data:
        try:
            return base64.b64decode(ref[data.end() :], validate=False), ""
        except (binascii.Error, ValueError):
            raise SourceError("A picture written into the text is damaged", "leave it out") from None
    if _SCHEME.match(ref):
        raise SourceError("A picture on the web was not fetched", _REMEDY)
    wanted = unquote(ref.partition("#")[0].partition("?")[0])
    if not wanted or "\0" in wanted:
        raise SourceError("A link to a picture is empty", _REMEDY)
    if len(wanted) > _LONGEST:
        raise SourceError("A link to a picture is too long", _REMEDY)
    path = Path(os.path.normpath(file.parent / wanted.replace("\\", "/")))
    try:
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(os.path.realpath(root)) for root in roots):
            raise SourceError("A linked picture lies outside the indexed folders", "index its folder as well")
        if len(str(real).encode()) > _LONGEST:
            raise SourceError("A link to a picture is too long", _REMEDY)
        found[str(real)] = state_of(str(real))
        if not os.path.isfile(real):
            raise SourceError("A linked picture does not exist", "check the link")
        if real.stat().st_size > MOST_BYTES:
            raise SourceError(f"A linked picture has more than {MOST_BYTES // 2**20} MB", "save it smaller")
        return real.read_bytes(), path.name
    except UnicodeEncodeError:
        raise SourceError("The file name of a linked picture is not valid Unicode", "rename it") from None
    except OSError as error:
        why = f"A linked picture cannot be read ({error.strerror})"
        raise SourceError(why, "check the file and its permissions") from error


def state_of(path: str, before: str = "") -> str:
    """Return the size, time and digest of a linked picture's file; "" without a file.

    The bytes are not read again while size and time are as `before` says.
    """
    try:
        seen = os.stat(path)
        outside = f"{seen.st_size} {seen.st_mtime_ns}"
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > MOST_BYTES:
            return outside
        if before.startswith(f"{outside} "):
            return before
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""
    # A file that was only touched is as it was.
    return before if before.endswith(f" {digest}") else f"{outside} {digest}"
