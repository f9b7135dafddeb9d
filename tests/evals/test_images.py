"""Measuring pictures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from ragweave.corpora.ingest.run import index, seeing
from ragweave.corpora.types import Item
from ragweave.evals.image_figures import _apart
from ragweave.evals.images import (
    Asked,
    around,
    astronomy,
    calibrate,
    read_asked,
    slides,
    threshold,
    transcribed,
    without,
    word_recall,
)
from ragweave.minds.context import Context
from ragweave.models.errors import InputError, ModelError
from tests.minds.test_looks import Random


def test_word_recall_counts_each_word_as_often_as_it_stands() -> None:
    assert word_recall([("Make is make", "make IS")]) == (2 / 3, 3)
    assert word_recall([("a_b c", "a b"), ("d", "e d d")]) == (0.75, 4)
    assert word_recall([]) == (0.0, 0)


def test_a_text_source_is_taken_away_alone() -> None:
    item = Item("i", "image", "s", "T", "", {"kind": "image"}, ("H",), meta={"name": "n", "own": "o"})
    parts = {"alt": "a", "words": "w"}
    assert without("alt")(item, parts) == (item, {"words": "w"})
    bare = without("name", "heading")(item, parts)[0]
    assert (bare.title, bare.heading, bare.meta["name"]) == ("", (), "")


def test_what_was_said_beside_a_slide_stays_within_its_lecture() -> None:
    said = {"aaaaaa-1": "one", "aaaaaa-2": "two", "bbbbbb-1": "three"}
    item = Item("i", "image", "s", "", "", {"kind": "image"}, meta={"own": "aaaaaa-2"})
    assert around(said, own=False)(item, {})[1] == {"around": "one"}
    assert around(said, own=True)(item, {})[1] == {"around": "one\n\ntwo"}


def test_queries_are_read_by_the_name_of_their_picture(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"query": "a crane", "gold": "img/crane.png"}\n')
    assert read_asked(path) == [Asked("a crane", "crane")]
    path.write_text('{"query": "a crane"}\n')
    with pytest.raises(InputError):
        read_asked(path)


@pytest.mark.data
def test_captions_are_withheld_and_every_slide_is_told_apart(data_dir: Path, tmp_path: Path) -> None:
    folder, asked = astronomy(data_dir, tmp_path)
    text = "\n".join(p.read_text() for p in folder.glob("*.md"))
    assert len(asked) == 116 and not [a.gold for a in asked if a.query in text]
    assert text.count("](<.images/") == 116
    _, questions, said = slides(data_dir, tmp_path)
    assert len(said) == 327 and {q.gold for q in questions} <= set(said) and len(transcribed()) == 24


def test_the_threshold_parts_what_was_asked_for_from_the_rest() -> None:
    assert threshold([5.0, 6.0, 7.0], [1.0, 2.0, 3.0]) == 4.0
    assert threshold([5.0, 6.0, 2.5], [1.0, 2.0, 9.0]) == 2.25
    assert threshold([], []) == 0.0


async def test_alpha_and_where_pictures_stand_out_are_found_by_labelled_queries(home, tmp_path, monkeypatch) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for shade in (30, 60, 150, 190, 240):
        Image.new("RGB", (120, 90), (shade, shade, shade)).save(folder / f"shade{shade}.png")
    encoder = Random()
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    monkeypatch.setattr(seeing, "image_encoder", lambda: encoder)
    await index([folder], "shades")
    asked = [Asked("a gloomy street", "shade30"), Asked("a gloomy square", "shade60")]
    found = await calibrate(asked, "shades", Context())
    assert found["alpha_1_r5"] == 1.0 and 0 <= found["alpha"] <= 1
    assert found["stands_out_gold"] > 0 and found["stands_out"] > 0


def test_what_indexing_took_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (120, 90), "navy").save(folder / "navy.png")
    code = f"from ragweave.evals.image_figures import main; main('index', {str(folder)!r}, {str(tmp_path / 'new')!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"RAGWEAVE_OCR": "off"}, capture_output=True, text=True
    )
    told = json.loads(done.stdout)
    assert told["pictures"] == 1 and told["pictures_seconds"] > 0
    assert 10 < told["reading_peak_mb"] < 2048 and told["index_peak_mb"] > 10


def test_a_measurement_that_fails_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="'index' failed"):
        _apart("index", tmp_path / "nowhere", tmp_path / "home")
