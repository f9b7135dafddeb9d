"""Knobs that the environment sets where a request does not."""

from __future__ import annotations

import pytest

from ragweave.components.run_settings import run_settings
from ragweave.models.errors import InputError


def test_knobs_of_the_environment_are_those_of_a_run_and_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_KNOBS", "web=ask corpora=clip,video graph=crag")
    assert run_settings().graph == "crag"
    assert run_settings().defaults == {"web": "ask", "corpora": ["clip", "video"]}


@pytest.mark.parametrize("value", ["web=sometimes", "rerank=false", "web"])
def test_a_knob_that_cannot_be_used_names_the_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("RAGWEAVE_KNOBS", value)
    with pytest.raises(InputError, match="RAGWEAVE_KNOBS cannot be used"):
        run_settings()
