"""Prompts as Markdown files, one per prompt: `# system` and `# user` sections, slots written as {name}.

What stands before the first section is told to nobody: a prompt that is quoted from a publication names its
source.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from ragweave.models.errors import InputError
from ragweave.models.prompt_fit import CLOSES, OPENS
from ragweave.models.settings import model_settings

if __name__ != "ragweave.prompts":
    raise ImportError("this folder is the package ragweave.prompts: import it by that name")

Messages = list[tuple[str, str]]
"""(role, text) pairs, as chat models take them."""

_SECTION = re.compile(r"^# (system|user|assistant)[ \t]*$", re.M)
_SLOT = re.compile(r"\{([a-z_]+)\}")


@cache
def _sections(name: str, folder: str = "", room: str = __name__) -> tuple[tuple[str, str], ...]:
    """Read a prompt: the user's own where the folder has one, with the slots of ours and no others."""
    shipped = files(room).joinpath(f"{name}.md").read_text(encoding="utf-8")
    mine = Path(folder, f"{name}.md")
    if not (folder and mine.is_file()):
        return _split(shipped)
    made = _split(mine.read_text(encoding="utf-8"))
    unknown = {s for _, body in made for s in _SLOT.findall(body)} - set(_SLOT.findall(shipped))
    roles = [role for role, _ in _split(shipped)]
    if unknown or [role for role, _ in made] != roles:
        sections = " and ".join(f"“# {role}”" for role in roles)
        told = f"it fills no slot {{{min(unknown)}}}" if unknown else f"it needs the sections {sections}"
        raise InputError(f"{mine} cannot be used as a prompt: {told}", "take the shipped file as the pattern")
    return made


def _split(text: str) -> tuple[tuple[str, str], ...]:
    parts = _SECTION.split(text)[1:]
    return tuple((role, body.strip()) for role, body in zip(parts[::2], parts[1::2], strict=True))


def load(name: str, *, room: str = __name__, **slots: object) -> Messages:
    """Return the messages of prompt `name` with its slots filled.

    Filled text is never scanned for slots again, so retrieved text cannot reach another slot. `room` is the
    package in which the prompt lies.

    Raises:
        KeyError: if a slot of the prompt is not given.
        InputError: if the file of that name in RAGWEAVE_PROMPTS is no such prompt.
    """
    read = _sections(name, str(model_settings().prompts or ""), room)
    return [(role, _SLOT.sub(lambda m: str(slots[m.group(1)]), body)) for role, body in read]


def fingerprint(name: str) -> str:
    """Return a digest of prompt `name` before its slots are filled: results that rest on its wording are kept by it."""
    return hashlib.sha256(repr(_sections(name, str(model_settings().prompts or ""))).encode()).hexdigest()


def passage(number: int, title: str, text: str) -> str:
    """Return a numbered passage as every prompt shows it: its title and its text inside one quotation."""
    return f"[{number}]\n" + quote(f"{' '.join(title.split())}\n{text}")


def quote(text: str) -> str:
    """Mark text from outside as data: its own closing marks are defused, so that it cannot end the quotation."""
    return OPENS + text.replace("<<<", "‹‹‹").replace(">>>", "›››") + CLOSES
