"""One file per kind of export: chats and notes that other programs write as one file.

A loader is a module of this package named as in `LOADERS` with one function, `parse(path) -> Parsed`.
LangChain's loaders read what they read whole; docs/formats.md says which, and why the others are ours. An
export is read by its loader where the run or the name of the file asks for it; met otherwise, it is
recognised and named.
"""

from __future__ import annotations

import re
import zipfile
from importlib import import_module
from pathlib import Path

from ragweave.corpora.archive import BROKEN
from ragweave.corpora.blocks import Parsed
from ragweave.corpora.formats import finished
from ragweave.models.errors import InputError, RagweaveError, SourceError

LOADERS: dict[str, str] = {
    "slack": "Slack export",
    "whatsapp": "WhatsApp chat",
    "telegram": "Telegram export",
    "evernote": "Evernote notebook",
    "notion": "Notion export",
}
"""Every kind that can be loaded, with its name for people. The key is also the module's name."""
UNREADABLE = frozenset({"evernote"})
"""Kinds that are text and make no sense as one."""

_ENTRIES = {
    "slack": r"(?:^|/)[^/]+/\d{4}-\d\d-\d\d\.json$",
    "telegram": r"(?:^|/)result\.json$",
    "whatsapp": r"(?:^|/)(?:_chat|WhatsApp[^/]*)\.txt$",
    "notion": r"(?: |-)[0-9a-f]{32}\.(?:md|csv)$|(?:^|/)Export(?:Block)?-[^/]*\.zip$",
}
"""Names of entries that tell a zip file, in the order in which they are looked for."""
_STAMP = r"[\[\W]{0,3}\d{1,4}[./-]\d{1,2}[./-]\d{1,4}, \d{1,2}[:.]\d\d[^\n]{0,16}(?:\]| -) "
_OPENINGS = {
    "evernote": r"\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE en-export[^>]*>\s*)?<en-export[\s>]",
    "telegram": (
        r'\s*\{(?:[^\[]{0,2000}"messages":\s*\[.*"(?:date_unixtime|from_id)"|.*"chats":\s*\{\s*"about")'
    ),
    "whatsapp": rf"{_STAMP}[^\n]*\n(?:[^\n]*\n){{0,20}}?{_STAMP}",
}
"""How a text begins that is an export."""
_HINT = re.compile(rf"\.({'|'.join(LOADERS)})\.[^.]+$", re.I)


def check_loader(kind: str) -> str:
    """Return a known kind as it is, "" for none; InputError if there is no such loader."""
    if kind and kind not in LOADERS:
        raise InputError(f"There is no loader {kind[:40]!r}", f"the loaders: {', '.join(LOADERS)}")
    return kind


def marked(name: str, kind: str) -> str:
    """Return a file name that asks for a loader: `team.slack.zip`."""
    path = Path(name)
    return path.with_name(f"{path.stem}.{kind}{path.suffix}").name if kind else name


def recognised(path: Path, opening: str = "") -> str:
    """Return the kind of an export, or "", by the names in a zip file or the first characters of a text."""
    if opening:
        return next((kind for kind, form in _OPENINGS.items() if re.match(form, opening, re.S)), "")
    try:
        with zipfile.ZipFile(path) as archive:
            names = "\n".join(archive.namelist())
    except BROKEN:
        return ""
    return next((kind for kind, form in _ENTRIES.items() if re.search(form, names, re.M)), "")


def asked_for(path: Path) -> str:
    """Return the kind that the name of a file asks for, or ""."""
    hint = _HINT.search(path.name)
    return hint[1].lower() if hint else ""


def load(path: Path, kind: str) -> Parsed:
    """Read an export.

    Raises:
        SourceError: it is no export of that kind, broken, or past a limit.
        MissingExtra: its loader needs the extra `loaders`.
    """
    parse = import_module(f"ragweave.corpora.loaders.{kind}").parse
    try:
        return finished(lambda: parse(path), path)
    except RagweaveError:
        raise
    except (*BROKEN, TypeError, AttributeError, LookupError) as exc:
        what = f"{path.name} cannot be read as {LOADERS[kind]} ({type(exc).__name__})"
        raise SourceError(what, "export it again, or leave --loader out") from None
