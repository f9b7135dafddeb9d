"""Answer a chat app's own requests, such as for a title of a conversation, without a run.

They are recognised by their form, because apps translate and edit their templates: one message of the user
contains a conversation, and either an object to reply with, or an instruction around turns with the role
names of the API. A request whose only sign is its sentence, after the conversation itself, is answered as a
question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ragweave.components.chat_messages import Message, read_message
from ragweave.models.text import clip
from ragweave.serve.chat_parts import read_content

_TITLE = 60
"""Maximum length of a title, in characters."""
_TAGGED = re.compile(
    r"<((?:chat_?)?(?:history|conversation|messages|transcript|dialog(?:ue)?))>(.*?)</\1>", re.S | re.I
)
_FORM = re.compile(r"\{\s*\"\w+\"\s*:[^{}]*\}")
_MEMBER = re.compile(r"\"(\w+)\"\s*:\s*(\[|\"|\w)")
_USER, _ASSISTANT = ("user", "human"), ("assistant", "ai", "response")
_LABEL = re.compile(
    rf"^[ \t]*(?:\|\|>|[-*#>]+)?[ \t]*(?:\*\*|\[|\"|<\|im_start\|>)?"
    rf"({'|'.join((*_USER, *_ASSISTANT, 'system'))})"
    rf"(?:\*\*|\]|\"|<\|im_sep\|>)?[ \t]*[:：](?:\*\*)?",
    re.M | re.I,
)
"""The name of a role before a turn, as clients write a conversation into one text."""
_ASKS = re.compile(r"[?？؟]")


class _Transcript(NamedTuple):
    """A conversation within a text: the first turn of its user, and the text around it."""

    first: str
    around: str


def chore(messages: Sequence[Any]) -> str | None:
    """Return the reply to a chat app's own request, or None for a question.

    The title is the first question of the conversation. All other members of an object stay empty, because
    nothing was searched for.
    """
    read = list(map(read_message, messages))
    roles = [message.role for message in read]
    if roles.count("user") != 1 or "assistant" in roles:
        return None
    asked = read_content(read[roles.index("user")].content).text
    found = _tagged(asked) or _as_json(asked) or _labelled(asked)
    if found is None:
        return None
    around = "\n".join([*_instructions(read), found.around])
    form = _reply_form(around)
    if form:
        return _filled(form, found.first)
    if _TAGGED.search(asked) or not around.strip() or _ASKS.search(found.around):
        return None
    return _title(found.first)


def _instructions(messages: Sequence[Message]) -> list[str]:
    """Return the texts of system messages."""
    texts = []
    for message in messages:
        if message.role in ("system", "developer"):
            texts.append(read_content(message.content).text)
    return texts


def _tagged(text: str) -> _Transcript | None:
    """Return the conversation between tags."""
    found = _TAGGED.search(text)
    if found is None:
        return None
    turns = _labelled(found[2])
    return _Transcript(turns.first if turns else found[2], text[: found.start()] + text[found.end() :])


def _labelled(text: str) -> _Transcript | None:
    """Return the conversation whose turns begin with the names of roles and end with an answer."""
    labels = list(_LABEL.finditer(text))
    roles = [label[1].lower() for label in labels]
    if not labels or roles[-1] not in _ASSISTANT or not set(roles) & set(_USER):
        return None
    ends = [label.start() for label in labels[1:]] + [len(text)]
    turns = []
    for label, end in zip(labels, ends, strict=True):
        turns.append(text[label.end() : end].strip())
    last, _, after = turns[-1].partition("\n\n")
    if not last.strip("`\"' \n"):
        return None
    first = next(turn for turn, role in zip(turns, roles, strict=True) if role in _USER)
    return _Transcript(first, f"{text[: labels[0].start()]}\n{after}")


def _as_json(text: str) -> _Transcript | None:
    """Return the conversation that a text consists of, as a JSON list of messages."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return None
    turns = list(map(read_message, rows)) if isinstance(rows, list) else []
    roles = [turn.role for turn in turns]
    if "user" not in roles or "assistant" not in roles:
        return None
    row = rows[roles.index("user")]
    return _Transcript(_longest_text(row) if isinstance(row, dict) else str(row), "")


def _longest_text(row: dict[str, Any]) -> str:
    """Return the longest text of a message whose content has a name of the app's own."""
    longest = ""
    for name, value in row.items():
        if name not in ("role", "type") and isinstance(value, str) and len(value) > len(longest):
            longest = value
    return longest


def _reply_form(request: str) -> str:
    """Return the JSON object that a request shows as the form of its reply, or "".

    This is the first object after the last word "output", else the first object.
    """
    output = request.lower().rfind("output")
    forms = list(_FORM.finditer(request))
    for form in forms:
        if form.start() >= output:
            return form.group()
    return forms[0].group() if forms else ""


def _filled(form: str, first: str) -> str | None:
    """Return a reply in a form."""
    members: dict[str, Any] = {}
    for name, opening in _MEMBER.findall(form):
        if opening == "[":
            members[name] = []
        else:
            members[name] = _title(first) if name == "title" else ""
    return json.dumps(members, ensure_ascii=False) if members else None


def _title(question: str) -> str:
    """Return a question cut to the length of a title."""
    return clip(" ".join(question.split()).strip("\"'`- "), _TITLE)
