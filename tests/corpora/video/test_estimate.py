"""What a run would take, said before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.corpora.ingest.estimate import estimate
from ragweave.corpora.ingest.run import index
from ragweave.corpora.knowledge.facts import Extractor, Found
from ragweave.models.caption import Captioner
from ragweave.models.settings import model_settings
from tests.corpora.video.conftest import Film
from tests.corpora.video.test_captions import Eye


async def test_recordings_texts_and_what_cannot_be_read_are_told_apart(film: Film, home: Path) -> None:
    path = film(seconds=40)
    path.with_suffix(".vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n")
    film("sound.mp3", 20, picture=False)
    path.with_name("note.txt").write_text("x" * 1000)
    path.with_name("broken.mkv").write_bytes(b"\x1aE\xdf\xa3 and nothing more")
    found = estimate([path.parent], "default")
    assert (found.texts, found.text_bytes, found.asked) == (1, 1000, [])
    assert {(Path(r.path).name, round(r.seconds), r.picture, r.speech) for r in found.recordings} == {
        ("film.mp4", 40, True, "subtitles"),
        ("sound.mp3", 20, False, ""),
    }
    assert [Path(p).name for p, _ in found.unreadable] == ["broken.mkv"]
    assert 3 < found.seconds < 10
    assert not (home / "perceived").exists()


async def test_what_the_library_holds_costs_nothing(film: Film) -> None:
    path = film(seconds=4)
    await index([path.parent])
    found = estimate([path.parent], "default")
    assert (found.unchanged, found.recordings, found.seconds) == (1, [], 0.0)


async def test_calls_tokens_and_cost_of_the_vision_model(film: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_RATES", '{"gpt-x": [1.0, 2.0]}')
    model_settings.cache_clear()
    path = film(seconds=70)
    eye = Eye()
    [priced] = estimate([path.parent], "default", Captioner("gpt-x at api.example", eye.ask, eye.check)).asked
    assert (priced.calls, priced.tokens) == (3, 3 * (5 * 1000 + 500) + 3 * 120)
    assert priced.cost == pytest.approx((16_500 * 1.0 + 360 * 2.0) / 1e6)
    assert estimate([path.parent], "default", eye.captioner).asked[0].cost is None
    assert eye.asked == []


async def test_entities_are_counted_by_the_hours_that_are_heard_and_what_captions_add(film: Film) -> None:
    path = film(seconds=300)
    path.with_suffix(".vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n")
    eye, reader = Eye(), Extractor("reader", by_list)
    [entities] = estimate([path.parent], "default", extractor=reader).asked
    assert (entities.what, entities.calls, entities.tokens) == ("entities", 2, 2 * (1200 + 400 + 400))
    both = estimate([path.parent], "default", eye.captioner, reader).asked
    assert [a.what for a in both] == ["captions", "entities"] and both[1].calls == 3


async def test_entities_of_a_transcript_that_stands_alone_are_counted_by_its_words(tmp_path: Path, home: Path) -> None:
    (tmp_path / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n" + "four " * 4_000)
    (tmp_path / "note.txt").write_text("four " * 4_000)
    [entities] = estimate([tmp_path], "default", extractor=Extractor("reader", by_list)).asked
    assert entities.calls == 5  # of 1,200 tokens of four bytes


async def by_list(text: str) -> Found:
    raise AssertionError("an estimate asks nobody")
