"""Read settings from files, as containers and systemd pass secrets."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ragweave.models.errors import InputError


def in_files(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Return the named settings whose variable `NAME_FILE` holds the path of a file with the value.

    Raises:
        InputError: if the file cannot be read, or the environment also has the value.
    """
    found: dict[str, str] = {}
    for name in names:
        plain = f"{prefix}{name}".upper()
        path = os.environ.get(f"{plain}_FILE", "")
        if not path:
            continue
        if os.environ.get(plain):
            raise InputError(f"{plain} and {plain}_FILE are both set", "keep one of them")
        try:
            found[name] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(
                f"{plain}_FILE names {path}, which cannot be read: {what}", "correct the path"
            ) from error
    return found
