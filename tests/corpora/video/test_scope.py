"""Recordings that a question describes by their topic, over a library of transcripts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.video.scope import Scope, named_scope

SAID = {
    "Module 2 - lecture": "A block cipher has rounds. Every block cipher has a key. The block cipher is old.",
    "Module 3 - talk": "Stream ciphers add a keystream. Most stream ciphers are fast. Such stream ciphers are small.",
    "teaser": "Soon in the cinema. The hero meets a dragon. The dragon sleeps.",
}


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What is added in the lecture on stream ciphers?", ("Module 3 - talk",)),
        ("What does the stream cipher course say about speed?", ("Module 3 - talk",)),
        ("What has rounds in the lecture on hash functions?", ()),
        ("What has a key in the keystream lecture?", ()),
        ("What has a key in the lecture?", ("Module 2 - lecture",)),
        ("Who sleeps in the fantasy teaser?", ("teaser",)),
        ("What is old in module 2?", ("Module 2 - lecture",)),
    ],
)
async def test_the_topic_of_a_recording_decides_where_to_look(
    tmp_path: Path, question: str, titles: tuple[str, ...]
) -> None:
    for name, text in SAID.items():
        cues = [f"00:{n * 5:02}.000 --> 00:{n * 5 + 4:02}.000\n{s}." for n, s in enumerate(text.split(". "))]
        (tmp_path / f"{name}.vtt").write_text("WEBVTT\n\n" + "\n\n".join(cues))
    await index([tmp_path])
    library = await open_library("default")
    scope = await named_scope(library, question, Scope())
    assert scope.titles == titles
    cut = await named_scope(replace(library, start=8.0), question, Scope())
    assert cut.titles == titles, "a topic is that of the whole, whatever time range is read"
