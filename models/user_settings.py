"""Write the user's own settings atomically, and find settings that override them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from dotenv import dotenv_values, set_key, unset_key

from ragweave.models.chat_client import address
from ragweave.models.settings import model_settings, user_file


def write(values: Mapping[str, str]) -> Path:
    """Write settings into the user's own file and return it; an empty value removes its line.

    Raises:
        OSError: if the file cannot be written; it does not change.
    """
    file = user_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_suffix(".draft")
    draft.touch(mode=0o600)
    try:
        if file.exists():
            shutil.copyfile(file, draft)
        lines = dotenv_values(draft)
        for name, value in values.items():
            if value:
                set_key(draft, name, value)
            elif name in lines:
                unset_key(draft, name)
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)
    model_settings.cache_clear()
    return file


def nearer(names: Iterable[str]) -> str:
    """Return the place of a setting that overrides the user's own file, in words, or ""."""
    here = dotenv_values(".env")
    for name in names:
        if os.environ.get(name):
            return f"{name} is set in the environment"
        if here.get(name):
            return f"{name} is set in {Path('.env').absolute()}"
    return ""


def hidden(name: str, value: str) -> str:
    """Return the value of a setting without its key, or without the password of an address."""
    if name.endswith("_KEY"):
        return "…"
    return value.replace(urlsplit(value).netloc, address(value)) if name.endswith("_URL") else value
