"""Recordings on the command line: scope and choices."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.commands.options import at_seconds
from ragweave.models.errors import InputError
from ragweave.tests.support.library import build_library

TALK = """WEBVTT

00:00:14.000 --> 00:00:19.000
The comet was found by Ada Ostrander in 1889.

00:12:31.000 --> 00:12:38.000
After Ada Ostrander the Corvane Observatory kept the telescope.
"""
BREAD = "WEBVTT\n\n00:00:01.000 --> 00:00:09.000\nThe bread of Boris Tamm rests for sixteen hours.\n"


@pytest.fixture
def talks(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "talks"
    asyncio.run(build_library(folder, {"comet.vtt": TALK, "bread.vtt": BREAD}))
    return folder


def test_a_question_is_narrowed_to_a_recording_and_a_time_and_a_missing_one_is_an_error(
    main: Any, talks: Path
) -> None:
    asked = ["ask", "-g", "video_rag", "Who knew Ada Ostrander?", "--source", "comet", "--json"]
    whole, later = (json.loads(main(*asked, *options)[1]) for options in ((), ("--from", "1:00")))
    assert "found by **Ada Ostrander**" in whole["text"]
    assert "found by" not in later["text"] and "kept the telescope" in later["text"]
    code, out, _ = main("ask", "-g", "video_rag", "Who found the comet?", "--source", "lecture.mp4")
    assert code == 3 and "lecture.mp4" in out and "comet.vtt" in out


@pytest.mark.parametrize("text", ["soon", "1:2:3:4", "-5", "1:-3", ""])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a time"):
        at_seconds(text)
