"""Load prompts from Markdown files with `# system` and `# user` sections and slots such as {name}.

Text before the first section is not part of the prompt: it names the source of a published prompt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from ragweave.models.errors import InputError
from ragweave.models.prompt_fit import CLOSES, OPENS
from ragweave.models.settings import model_settings

if __name__ != "ragweave.prompts":
    raise ImportError("this folder is the package ragweave.prompts: import it by that name")

Messages = list[tuple[str, str]]
"""(role, text) pairs for chat models."""

_SECTION = re.compile(r"^# (system|user|assistant)[ \t]*$", re.M)
_SLOT = re.compile(r"\{([a-z_]+)\}")


@cache
def _sections(name: str, folder: str = "", room: str = __name__) -> tuple[tuple[str, str], ...]:
    """Read a prompt; the user's file replaces ours if it has the same sections and known slots."""
    shipped = files(room).joinpath(f"{name}.md").read_text(encoding="utf-8")
    own = Path(folder, f"{name}.md")
    if not (folder and own.is_file()):
        return _split(shipped)
    sections = _split(own.read_text(encoding="utf-8"))
    obstacle = _obstacle(sections, shipped)
    if obstacle:
        remedy = "take the shipped file as the pattern"
        raise InputError(f"{own} cannot be used as a prompt: {obstacle}", remedy)
    return sections


def _obstacle(sections: Sequence[tuple[str, str]], shipped: str) -> str:
    """Return why a user's sections cannot replace a shipped prompt, or ""."""
    slots: set[str] = set()
    for _, body in sections:
        slots.update(_SLOT.findall(body))
    unknown = slots - set(_SLOT.findall(shipped))
    if unknown:
        return f"it fills no slot {{{min(unknown)}}}"
    roles = [role for role, _ in _split(shipped)]
    if [role for role, _ in sections] == roles:
        return ""
    needed = " and ".join(f"“# {role}”" for role in roles)
    return f"it needs the sections {needed}"


def _split(text: str) -> tuple[tuple[str, str], ...]:
    """Return the (role, body) pairs of a prompt."""
    parts = _SECTION.split(text)[1:]
    return tuple(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def load(name: str, *, room: str = __name__, **slots: object) -> Messages:
    """Return the messages of prompt `name` with filled slots.

    Filled text is not searched for slots, so retrieved text cannot fill another slot. `room` is the package
    of the prompt.

    Raises:
        KeyError: a slot of the prompt is missing.
        InputError: the file of that name in RAGWEAVE_PROMPTS cannot replace the prompt.
    """
    messages: Messages = []
    for role, body in _sections(name, str(model_settings().prompts or ""), room):
        messages.append((role, _SLOT.sub(lambda slot: str(slots[slot[1]]), body)))
    return messages


def fingerprint(name: str) -> str:
    """Return a digest of prompt `name` with empty slots: a key for results that depend on its words."""
    return hashlib.sha256(repr(_sections(name, str(model_settings().prompts or ""))).encode()).hexdigest()


def passage(number: int, title: str, text: str) -> str:
    """Return a numbered passage for a prompt: its title and text inside one quotation."""
    return f"[{number}]\n" + quote(f"{' '.join(title.split())}\n{text}")


def quote(text: str) -> str:
    """Mark untrusted text as data; its closing marks are replaced, so that it cannot end the quotation."""
    return OPENS + text.replace("<<<", "‹‹‹").replace(">>>", "›››") + CLOSES
