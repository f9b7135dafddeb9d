"""VideoRAG in small: clips of the right seconds, verdicts, and the page that shows them."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from ragweave.corpora.ingest.run import Models
from ragweave.evals.claims import video_judged, video_rag
from ragweave.evals.claims.common import Given, read_rows
from ragweave.evals.claims.video_library import KeptIndexing, key_of
from ragweave.evals.judge import ASPECTS
from ragweave.tests.evals.claims.page import block_of


def test_a_clip_is_right_if_it_meets_a_gold_stretch_of_its_recording() -> None:
    found = [("b", 0.0, 30.0), ("a", 30.0, 60.0)]
    gold = [("a", 55.0, 58.0)]
    assert (video_rag.right(found, gold, 1), video_rag.right(found, gold, 2)) == (0.0, 1.0)
    assert video_rag.right(found, [("a", 60.0, 70.0)], 2) == 0.0


def test_every_open_question_has_an_answer_of_each_arm_and_verdicts_of_two_judges_in_both_orders() -> None:
    asked = [q["question"] for q in read_rows("video_rag_questions") if q["kind"] == "open"]
    answers = {(row["question"], row["arm"]) for row in read_rows("video_rag_answers") if row["answer"]}
    assert answers == {(q, arm) for q in asked for arm in video_rag.JUDGED}
    verdicts = video_judged.verdicts()
    keys = Counter((v.question, v.over, v.judge, v.first) for v in verdicts)
    rivals = video_rag.JUDGED[1:]
    assert keys == Counter((q, r, j, f) for q in asked for r in rivals for j in (1, 2) for f in (True, False))
    assert all(tuple(v.won) == ASPECTS for v in verdicts)


def test_equal_answers_split_their_verdicts() -> None:
    answers = {(row["question"], row["arm"]): row["answer"] for row in read_rows("video_rag_answers")}
    equal = 0
    for v in video_judged.verdicts():
        if answers[v.question, v.over] == answers[v.question, video_rag.WHOLE]:
            equal += 1
            assert {*v.won.values()} == {float(v.first)}
    assert equal


async def test_what_has_no_kept_reply_is_noted_with_its_pictures(tmp_path: Path) -> None:
    kept = KeptIndexing({key_of("caption", "known"): "A ship."}, tmp_path / "missing")
    models = kept.models(frames=True)
    assert models.captioner is not None
    assert await models.captioner.ask([], "known", "") == "A ship."
    assert await models.captioner.ask([b"x"], "new", "") is None
    assert {p.suffix for p in (tmp_path / "missing").iterdir()} == {".json", ".jpg"}


def test_without_frames_indexing_asks_no_caption(tmp_path: Path) -> None:
    models = KeptIndexing({}, tmp_path).models(frames=False)
    assert isinstance(models, Models) and models.captioner is None and models.extractor is not None


@pytest.mark.parametrize("kind", ["caption", "entities", "same", "chat"])
def test_replies_of_every_kind_are_kept_once(kind: str) -> None:
    keys = [row["key"] for row in read_rows("video_rag_replies") if row["kind"] == kind]
    assert keys and len(keys) == len({*keys})


def test_the_page_shows_what_the_records_give(tmp_path: Path) -> None:
    report = asyncio.run(video_rag.claim(Given(None, tmp_path)))
    assert block_of("video-rag") == report.text
    report.draw(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
