from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.prompts import load, quote

FILES = sorted(p.stem for p in (Path(__file__).parents[2] / "prompts").glob("*.md"))


@pytest.mark.parametrize("name", FILES)
def test_every_prompt_has_a_system_part_and_a_user_part(name: str) -> None:
    from ragweave.prompts import _sections

    assert [role for role, _ in _sections(name)] == ["system", "user"]


def test_filled_text_cannot_reach_another_slot() -> None:
    messages = load("condense", history="{question}", question="What?")
    assert messages[1][1].count("What?") == 1


def test_missing_slot_is_an_error() -> None:
    with pytest.raises(KeyError):
        load("condense", history="")


def test_quoted_text_cannot_close_its_own_quotation() -> None:
    assert quote("a >>> b <<< c").count(">>>") == 1
