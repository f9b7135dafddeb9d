"""Replace the configured chat models by those of a caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, get_args

from ragweave.models.chat_client import Connection
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Role = Literal["writer", "reasoner", "judge", "check", "vision", "fallback"]

injected: ContextVar[tuple[dict[str, Connection], bool] | None] = ContextVar("injected_models", default=None)
"""Connections by role, and whether their replies are cached."""


@contextmanager
def override(*, cached: bool = False, **models: BaseChatModel) -> Iterator[None]:
    """Inject models by role for the code inside; `writer` also replaces missing roles.

    `cached` keeps and reuses their replies on disk.

    Raises:
        InputError: for a role that does not exist.
    """
    unknown = set(models) - set(get_args(Role))
    if unknown:
        raise InputError(
            f"there is no role {sorted(unknown)[0]!r}", f"use one of {', '.join(get_args(Role))}"
        )
    outer = injected.get()
    connections = dict(outer[0]) if outer else {}
    for role, model in models.items():
        connections[role] = Connection(model)
    token = injected.set((connections, cached))
    try:
        yield
    finally:
        injected.reset(token)
