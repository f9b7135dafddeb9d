"""What a server of a chat model refuses, learnt from its refusals: a second way is tried once and remembered."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ragweave.models.failures import is_too_long, status_of, words_of

_REFUSALS = frozenset({400, 404, 405, 415, 422, 500, 501})
_MAX_TOKENS = re.compile(r"max_(?:completion_|output_|new_)?tokens")
_NAMED = {
    "counted": re.compile(r"stream_options|include_usage", re.I),
    "streamed": re.compile(r"\bstream(?:ing|ed)?\b(?!_)", re.I),
    "system": re.compile(
        r"\bsystem\b|\bdeveloper (?:role|message|prompt|instruction)|\broles? must alternate"
        r"|\brole\b[^.]{0,60}\buser\b|\buser\b[^.]{0,20}\bassistant\b[^.]{0,20}\broles?\b|\bfirst message\b",
        re.I,
    ),
    "tempered": re.compile(r"\btemperature\b", re.I),
}
"""What a refusal names, in the order in which it is looked at."""
WORDS = {
    "counted": "it is not asked to count tokens (it refuses stream_options)",
    "streamed": "its replies come whole (it does not stream)",
    "system": "instructions are part of the question (it refuses the system role)",
    "tempered": "its own temperature holds (it refuses another)",
    "limited": "it is not told how long a reply may be (it refuses max_tokens)",
    "most": "its replies are shorter (prompt and reply must fit its context)",
    "thinks": "its model thinks before it answers without marking where: a reply is shown once it is whole",
}
_SHORTER, _SHORTEST = 4, 256
_KEPT = 7 * 86_400.0
"""Seconds for which a way is remembered: servers are set up anew."""


class NoStream(ValueError):
    """What came in place of a stream holds no event of one."""


@dataclass
class Ways:
    """How a model of one server is asked.

    Attributes:
        streamed: a reply may be streamed.
        counted: the stream is asked to count tokens.
        system: the system role may be used.
        tempered: the configured temperature is sent.
        limited: the most tokens of a reply are sent.
        most: tokens of a reply; 0: as many as are wanted.
        thinks: replies begin with thoughts that no tag opens; None before one was read.
    """

    streamed: bool = True
    counted: bool = True
    system: bool = True
    tempered: bool = True
    limited: bool = True
    most: int = 0
    thinks: bool | None = None

    def refused(self, exc: BaseException, most: int, tempered: bool, empty: bool) -> str:
        """Take the second way to what a server refused; return its name, or "" if none is left.

        Args:
            exc: what the client library raised.
            most: tokens that the reply was to have at most.
            tempered: whether a temperature was sent.
            empty: whether a stream ended that had no part.
        """
        if empty and isinstance(exc, ValueError) and status_of(exc) is None:
            return self._without("streamed")
        text = words_of(exc)
        if status_of(exc) not in _REFUSALS or isinstance(exc, FileNotFoundError):
            return ""
        if self.limited and _MAX_TOKENS.search(text) and status_of(exc) in (400, 422):
            return self._without("limited")
        if is_too_long(exc):
            return self._shortened(text, most)
        for name, named in _NAMED.items():
            if named.search(text) and getattr(self, name) and (name != "tempered" or tempered):
                return self._without(name)
        return ""

    def undo(self, taken: Sequence[str]) -> None:
        """Go back to the first way where the second failed, too; a limit that was refused stays away."""
        for name in taken:
            if name != "limited":
                setattr(self, name, 0 if name == "most" else True)

    def messages(self, sent: list[Any]) -> list[Any]:
        """Return messages as the server takes them: what the system says may have to be part of the question."""
        if self.system:
            return sent
        told = "\n\n".join(str(text) for role, text in sent if role == "system")
        rest = [message for message in sent if message[0] != "system"]
        at = next((n for n, (role, _) in enumerate(rest) if role == "user"), None)
        if not told or at is None:
            return sent
        content = rest[at][1]
        if isinstance(content, list):
            rest[at] = ("user", [{"type": "text", "text": told}, *content])
        else:
            rest[at] = ("user", f"{told}\n\n{content}")
        return rest

    def changed(self, model: Any) -> Any:
        """Return a client that asks in these ways."""
        changes: dict[str, Any] = {}
        if not self.streamed:
            changes["disable_streaming"] = True
        if not self.counted:
            changes["stream_usage"] = False
        if not self.tempered:
            changes["temperature"] = None
        known = {name: value for name, value in changes.items() if name in type(model).model_fields}
        return model.model_copy(update=known) if known else model

    def learnt(self) -> list[str]:
        """Return what differs from the first way, in words."""
        default = Ways()
        names = (f.name for f in fields(self) if getattr(self, f.name) != getattr(default, f.name))
        return [WORDS[name] for name in names if name != "thinks" or self.thinks]

    def _without(self, name: str) -> str:
        if not getattr(self, name):
            return ""
        setattr(self, name, False)
        return name

    def _shortened(self, text: str, most: int) -> str:
        """Ask for a shorter reply where a server counts the reply among what is too long."""
        numbers = {int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\d|\d", text)}
        if self.most or not self.limited or most not in numbers:
            return ""
        window = min((n for n in numbers if n >= most), default=most)
        prompts = [n - most for n in numbers if n > window and n - most in numbers]
        room = window - prompts[0] - 1 if prompts else 0
        self.most = max(_SHORTEST, room if 0 < room < most else most // _SHORTER)
        return "most"


def recall(file: Path, server: str) -> Ways:
    """Return what is remembered of a server; the first ways where nothing is."""
    kept = _read(file).get(server)
    if not isinstance(kept, dict) or not time.time() - _number(kept.get("since")) < _KEPT:
        return Ways()
    ways = Ways()
    for f in fields(ways):
        value = kept.get(f.name)
        if isinstance(value, bool) or (f.name == "most" and isinstance(value, int)):
            setattr(ways, f.name, value)
    return ways


def remember(file: Path, server: str, ways: Ways) -> None:
    """Write down what was learnt of a server; a disk that refuses is no failure of a question."""
    with suppress(OSError):
        rows = {**_read(file), server: {**asdict(ways), "since": time.time()}}
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=".servers", delete=False) as draft:
            json.dump(rows, draft)
        os.replace(draft.name, file)


def _read(file: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        rows = json.loads(file.read_text("utf-8"))
        return rows if isinstance(rows, dict) else {}
    return {}


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
