"""Adapt requests to the refusals of a chat server; a second way is tried once and remembered."""

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
"""Patterns of the words in a refusal, in the order of the tests."""
WORDS = {
    "counted": "it is not asked to count tokens (it refuses stream_options)",
    "streamed": "its replies come whole (it does not stream)",
    "system": "instructions are part of the question (it refuses the system role)",
    "tempered": "its own temperature holds (it refuses another)",
    "limited": "its replies have no limit of tokens (it refuses max_tokens)",
    "most": "its replies are shorter (prompt and reply must fit its context)",
    "thinks": "its model thinks before it answers without marking where: a reply is shown once it is whole",
}
_SHORTER, _SHORTEST = 4, 256
_KEPT = 7 * 86_400.0
"""Seconds for which a way is remembered, because servers are set up again."""


class NoStream(ValueError):
    """The server sent no event of a stream."""


@dataclass
class Ways:
    """The form of requests to a model of one server.

    Attributes:
        streamed: whether replies are streamed.
        counted: whether the stream counts tokens.
        system: whether messages use the system role.
        tempered: whether the configured temperature is sent.
        limited: whether the most tokens of a reply are sent.
        most: most tokens of a reply; 0: as many as the caller wants.
        thinks: whether replies begin with thoughts that no tag opens; None before the first reply.
    """

    streamed: bool = True
    counted: bool = True
    system: bool = True
    tempered: bool = True
    limited: bool = True
    most: int = 0
    thinks: bool | None = None

    def refused(self, exc: BaseException, most: int, tempered: bool, empty: bool) -> str:
        """Switch to the second way after a refusal; return its name, or "" if none is left.

        Args:
            exc: exception of the client library.
            most: most tokens of the reply in the request.
            tempered: whether a temperature was sent.
            empty: whether a stream ended without a part.
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
        """Go back to the first ways, because the second ones failed too; a refused limit stays off."""
        for name in taken:
            if name != "limited":
                setattr(self, name, 0 if name == "most" else True)

    def messages(self, sent: list[Any]) -> list[Any]:
        """Return messages as the server accepts them: the instructions may have to precede the question."""
        if self.system:
            return sent
        system: list[str] = []
        rest: list[Any] = []
        first_user = None
        for role, content in sent:
            if role == "system":
                system.append(str(content))
                continue
            if role == "user" and first_user is None:
                first_user = len(rest)
            rest.append((role, content))
        instructions = "\n\n".join(system)
        if not instructions or first_user is None:
            return sent
        content = rest[first_user][1]
        if isinstance(content, list):
            rest[first_user] = ("user", [{"type": "text", "text": instructions}, *content])
        else:
            rest[first_user] = ("user", f"{instructions}\n\n{content}")
        return rest

    def changed(self, model: Any) -> Any:
        """Return a client that sends requests in these ways."""
        changes: dict[str, Any] = {}
        if not self.streamed:
            changes["disable_streaming"] = True
        if not self.counted:
            changes["stream_usage"] = False
        if not self.tempered:
            changes["temperature"] = None
        for name in list(changes):
            if name not in type(model).model_fields:
                del changes[name]
        return model.model_copy(update=changes) if changes else model

    def learnt(self) -> list[str]:
        """Return the differences from the first ways, in words."""
        first = asdict(Ways())
        found: list[str] = []
        for name, value in asdict(self).items():
            changed = value != first[name]
            if changed and (name != "thinks" or self.thinks):
                found.append(WORDS[name])
        return found

    def _without(self, name: str) -> str:
        if not getattr(self, name):
            return ""
        setattr(self, name, False)
        return name

    def _shortened(self, text: str, most: int) -> str:
        """Request a shorter reply if the server counts the reply in the length of the prompt.

        The message often states the window, the prompt, the reply and the sum of the last two.
        """
        numbers: set[int] = set()
        for digits in re.findall(r"\d[\d,]*\d|\d", text):
            numbers.add(int(digits.replace(",", "")))
        if self.most or not self.limited or most not in numbers:
            return ""
        room = _room_for_reply(numbers, most)
        self.most = max(_SHORTEST, room if 0 < room < most else most // _SHORTER)
        return "most"


def _room_for_reply(numbers: set[int], most: int) -> int:
    """Return the tokens that a window leaves for a reply, or 0 if the message does not state them.

    Args:
        numbers: the numbers of a server's message.
        most: the reply that was requested, one of them.
    """
    for total in sorted(numbers, reverse=True):  # the sum exceeds the window
        prompt = total - most
        if prompt <= 0 or prompt not in numbers:
            continue
        windows = [number for number in numbers if prompt < number < total]
        if windows:
            return max(windows) - prompt - 1
    return 0


def recall(file: Path, server: str) -> Ways:
    """Return the remembered ways of a server, or the first ways."""
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
    """Store the ways of a server; an error of the disk does not fail the question."""
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
