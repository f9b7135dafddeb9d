"""LangGraph's typed event streaming carries what `custom` does: steps, sentences and marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave import build_agent
from ragweave.tests.support import build_library

QUESTION = {"question": "When was the lamp lit?"}


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
async def test_typed_events_are_those_of_the_custom_stream(home: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "notes", {"lamp.md": "# The lamp\n\nThe lamp was lit in 1874.\n"})
    plain = [part async for part in build_agent().astream(QUESTION, stream_mode="custom")]
    run: Any = await build_agent().astream_events(QUESTION, version="v3")
    typed = [event["params"]["data"] async for event in run if event["method"] == "custom"]
    assert [(e["type"], e.get("node")) for e in typed] == [(e["type"], e.get("node")) for e in plain]
    assert {"step", "sentence"} <= {e["type"] for e in typed}
    projected: Any = await build_agent().astream_events(QUESTION, version="v3")
    assert [e["type"] async for e in projected.custom] == [e["type"] for e in plain]
