"""Names of presets."""

from __future__ import annotations

import pytest

from ragweave.components.context import Context
from ragweave.components.method import spelled


@pytest.mark.parametrize(
    ("written", "name"),
    [("crag", "crag-paper"), ("AutoRAG", "auto-rag-paper"), ("rag-fusion-seed", "rag-fusion-seed")],
)
def test_a_preset_is_found_by_the_name_of_its_paper(written: str, name: str) -> None:
    assert spelled(written) == name
    assert Context.model_validate({"preset": written}).preset == name
