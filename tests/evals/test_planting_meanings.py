"""Errors of meaning that are planted by rule."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.evidence import Strip
from ragweave.evals.planting import RIGHT, CheckedSentence, planted
from ragweave.evals.planting_meanings import MEANINGS


def strip(name: str, text: str) -> Strip:
    made: Any = {
        "id": f"{name}#0",
        "evidence": name,
        "text": text,
        "title": name,
        "locator": {"file": f"/{name}.md"},
    }
    return {**made, "origin": "library", "query": "", "hop": 1, "score": 1.0}


TABLE = (
    "Ship | Tons | Masts\nKestrel | 85 | 3\nThe ferry ran from Ostby to the pier. The keeper hired Ada Quill."
)


def said(text: str) -> CheckedSentence:
    ships = strip("ships", TABLE)
    return CheckedSentence("q:0", RIGHT, text, "What?", (ships,), (ships,), ("/ships.md",))


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("unit", "The hose is 25 m long.", "The hose is 25 km long."),
        ("unit", "It costs €90.", "It costs $90."),
        ("unit", "Es dauert 3 Tage.", "Es dauert 3 Wochen."),
        ("unit", "The hose is long.", None),
        ("opposite", "It opened before noon.", "It closed before noon."),
        ("direction", "It ran from Ostby to Carrow daily.", "It ran from Carrow to Ostby daily."),
        ("common noun", "The lamp was lit.", "The ferry was lit."),
        ("roles exchanged", "Ada Quill lent her boat to Jo Reef.", "Jo Reef lent her boat to Ada Quill."),
        ("roles exchanged", "The keepers were Ada Quill and Jo Reef.", None),
        ("neighbour column", "The Kestrel carried 85 tons.", "The Kestrel carried 3 tons."),
        ("addition", "The lamp was lit", None),
    ],
)
def test_each_kind_changes_what_a_sentence_says(kind: str, right: str, wrong: str | None) -> None:
    made = MEANINGS[kind](said(right))
    if kind == "common noun":
        assert made is not None and made.text in ("The ferry was lit.", "The keeper was lit.")
    else:
        assert (made.text if made else None) == wrong


def test_a_year_of_a_heading_an_order_and_a_newer_document_change_what_is_shown() -> None:
    right = said("The Kestrel carried 85 tons.")
    dated, ordered, older = (MEANINGS[kind](right) for kind in ("heading value", "order", "older document"))
    assert dated and ordered and older
    year = dated.text[-5:-1]
    assert year in dated.named[0]["title"] and year not in dated.named[0]["text"]
    assert ordered.text in ordered.named[0]["text"] and ordered.text != right.text
    assert older.text == right.text and older.named == right.named and len(older.known) == 2
    assert "tons" in older.known[1]["text"] and "85" not in older.known[1]["text"]


def test_what_cannot_be_changed_is_left_out_and_kinds_come_in_turn() -> None:
    right = [
        CheckedSentence(f"q{n}:0", *s)
        for n in range(30)
        for s in [tuple(vars(said("It opened at 85 m.")).values())[1:]]
    ]
    wrong = planted(right, 12, MEANINGS)
    assert {s.kind for s in wrong} <= set(MEANINGS) - {"direction", "roles exchanged", "common noun"}
    assert len({s.id for s in wrong}) == 12
