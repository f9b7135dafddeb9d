from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.distinct import distinct


def row(id: str, text: str, corpus: str = "paragraph", file: str = "/a.md", worth: float = 0.0) -> Any:
    return {
        "id": id, "corpus": corpus, "text": text, "title": "Mill", "locator": {"file": file}, "relevance": worth,
        "score": worth,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        (
            [row("p", "It burnt down."), row("d", "Mill\n\nIt  burnt\ndown. It was rebuilt.", "document")],
            ["d"],
        ),
        ([row("d", "It burnt down. It was rebuilt.", "document"), row("p", "It burnt down.")], ["d"]),
        (
            [row("p", "One."), row("x", "Other."), row("q", "Two."), row("d", "One.\nTwo.", "document")],
            ["d", "x"],
        ),
        ([row("p", "It burnt down."), row("d", "It burnt down. More.", "document", "/b.md")], ["p", "d"]),
        ([row("p", "It burnt down."), row("h", "Mill")], ["p"]),
        ([row("h", "Mill")], ["h"]),
        ([row("c", "It burnt down.", "clip"), row("v", "It burnt down. More.", "video")], ["c", "v"]),
        (
            [row("a", "One."), row("b", "Two."), row("c", "Three."), row("d", "Four."), row("e", "Five.")],
            ["a", "b", "c", "d"],
        ),
    ],
)
def test_a_text_is_kept_once_and_its_headings_never_alone(rows: list[Any], kept: list[str]) -> None:
    assert [r["id"] for r in distinct(rows, 4)] == kept
