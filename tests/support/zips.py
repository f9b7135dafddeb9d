"""Zip files in memory."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping


def zip_bytes(entries: Mapping[str, str | bytes]) -> bytes:
    """Write a zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in entries.items():
            archive.writestr(name, body)
    return out.getvalue()
