"""Read messages in the forms of OpenAI, LangChain and others; no message makes a conversation unreadable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
)

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "bot": "assistant",
    "ipython": "tool",
}
"""Roles in other APIs, and the types of LangChain's messages, by the name in the API of OpenAI."""
_UNREAD_MEMBERS = {
    "tool_calls": "a call of a tool",
    "function_call": "a call of a tool",
    "refusal": "a refusal",
    "audio": "a recording",
}
"""Descriptions of the members of a message, besides its content, that are not read."""
UNREADABLE = "unreadable"
"""The role of what is not a message."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `unused` describes the members that are not read."""

    role: str
    content: Any = None
    unused: list[str] = field(default_factory=list)


def read_message(given: Any) -> Message:
    """Read a message in any form: an object, a pair of role and content, or the text of a question."""
    if isinstance(given, str):
        return Message("user", given)
    if isinstance(given, BaseMessage):
        given = given.model_dump()
    if isinstance(given, list | tuple) and len(given) == 2 and isinstance(given[0], str):
        return Message(_role(given[0]), given[1])
    if not isinstance(given, Mapping):
        return Message(UNREADABLE)
    members = _members(given)
    role = members.get("role")
    if not isinstance(role, str) or not role:
        role = members.get("type")
    unused = []
    for name, description in _UNREAD_MEMBERS.items():
        if members.get(name):
            unused.append(description)
    return Message(_role(role) if isinstance(role, str) else "", members.get("content"), unused)


def _members(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of a message, which LangChain's stored forms have in an inner object."""
    for name in ("kwargs", "data"):
        inner = given.get(name)
        if isinstance(inner, Mapping) and "content" in inner:
            return {"type": _stored_type(given), **inner}
    return given


def _stored_type(given: Mapping[str, Any]) -> str:
    """Return the type of a message that LangChain has stored, which may be the name of its class."""
    path = given.get("id")
    if isinstance(path, list) and path and isinstance(path[-1], str):
        return path[-1]
    return str(given.get("type") or "")


def _role(name: str) -> str:
    """Return a role by its name in the API of OpenAI."""
    role = name.strip().lower().removesuffix("chunk").removesuffix("message")
    return _ROLES.get(role, role)[:100]


_NOT_CONVERTED = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError)
"""Errors that LangChain raises for messages that it cannot read."""


def converted(given: Any) -> list[Any]:
    """Return messages that LangGraph can read, in the forms that came if it can read them.

    The text of any other message of user, assistant or system is kept; what else cannot be read becomes a
    message of the role `UNREADABLE`.
    """
    messages = []
    for one in given if isinstance(given, list) else [given]:
        try:
            convert_to_messages([one])
            messages.append(one)
        except _NOT_CONVERTED:
            messages.append(_as_text(read_message(one)))
    return messages


def _as_text(message: Message) -> AnyMessage:
    """Return the text of a message that LangChain cannot read."""
    content = message.content
    text = content.get("text") if isinstance(content, dict) else content
    if isinstance(text, str):
        if message.role == "user":
            return HumanMessage(text)
        if message.role == "assistant":
            return AIMessage(text)
        if message.role in ("system", "developer"):
            return SystemMessage(text)
    return ChatMessage(content="", role=UNREADABLE)


def is_unreadable(message: AnyMessage) -> bool:
    """Return whether a message stands in for one that could not be read."""
    return isinstance(message, ChatMessage) and message.role == UNREADABLE
