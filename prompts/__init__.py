"""Prompts as Markdown files, one per prompt: `# system` and `# user` sections, slots written as {name}."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

if __name__ != "ragweave.prompts":
    raise ImportError("this folder is the package ragweave.prompts: import it by that name")

Messages = list[tuple[str, str]]
"""(role, text) pairs, as chat models take them."""

_SECTION = re.compile(r"^# (system|user|assistant)[ \t]*$", re.M)
_SLOT = re.compile(r"\{([a-z_]+)\}")


@cache
def _sections(name: str) -> tuple[tuple[str, str], ...]:
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    parts = _SECTION.split(text)[1:]
    return tuple((role, body.strip()) for role, body in zip(parts[::2], parts[1::2], strict=True))


def load(name: str, **slots: object) -> Messages:
    """Return the messages of prompt `name` with its slots filled.

    Filled text is never scanned for slots again, so retrieved text cannot reach another slot.

    Raises:
        KeyError: if a slot of the prompt is not given.
    """
    return [(role, _SLOT.sub(lambda m: str(slots[m.group(1)]), body)) for role, body in _sections(name)]


def quote(text: str) -> str:
    """Mark text from outside as data: its own closing marks are defused, so that it cannot end the quotation."""
    return "<<<\n" + text.replace("<<<", "‹‹‹").replace(">>>", "›››") + "\n>>>"


def captions(context: str, language: str) -> Messages:
    """Return the messages that ask for a caption of the pictures that go with them."""
    return load(
        "caption", context=quote(context or "(nothing)"), language=language or "the language of the quoted context"
    )
