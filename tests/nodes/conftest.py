"""What a node needs when it runs alone: a runtime, and a library that knows no terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.types import Item
from ragweave.tests.support.knobs import context as knobs_of


class Shelf:
    """Stands in for a library: holds items, counts no terms."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self.held = {i.id: i for i in items}
        self.row = LibraryRow("1", "shelf", "enc", 3, 0)

    async def about(self) -> LibraryRow:
        return self.row

    async def languages(self) -> list[str]:
        return ["en"]

    async def items(self, ids: Iterable[str]) -> dict[str, Item]:
        return {i: self.held[i] for i in ids if i in self.held}

    def nearness(self, query: str, ids: Iterable[str]) -> dict[str, float]:
        return {}

    def weights(self, wanted: Iterable[str]) -> dict[str, float]:
        return dict.fromkeys(wanted, 1.0)


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """An open library without a disk."""
    found = Shelf()

    async def opened(name: str) -> Shelf:
        return found

    monkeypatch.setattr("ragweave.components.run_context.open_library", opened)
    return found


@pytest.fixture
def runtime() -> Callable[..., Any]:
    """Make the runtime of a node that runs outside a graph."""

    def made(**knobs: Any) -> Any:
        return SimpleNamespace(context=knobs_of(**knobs), stream_writer=lambda event: None)

    return made
