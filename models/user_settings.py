"""The user's own settings: written whole or not at all, and what is set nearer and counts before them."""

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
    """Write settings into the user's own file; an empty value takes its line out. Return the file.

    Raises:
        OSError: the file cannot be written; it is as it was.
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
    """Say where one of these settings is set so that it counts before the user's own; empty where none is."""
    here = dotenv_values(".env")
    for name in names:
        if os.environ.get(name):
            return f"{name} is set in the environment"
        if here.get(name):
            return f"{name} is set in {Path('.env').absolute()}"
    return ""


def hidden(name: str, value: str) -> str:
    """Return the value of a setting as it may be shown: no key, and of an address no password."""
    if name.endswith("_KEY"):
        return "…"
    return value.replace(urlsplit(value).netloc, address(value)) if name.endswith("_URL") else value
