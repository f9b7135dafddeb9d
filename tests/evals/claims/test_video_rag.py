"""VideoRAG in small: clips of the right seconds, verdicts, and the page that shows them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import networkx
import pytest

from ragweave.corpora.ingest.run import Models
from ragweave.corpora.knowledge.graph import Mention
from ragweave.evals.claims import video_judged, video_published, video_rag
from ragweave.evals.claims.common import Given, read_rows, shortened
from ragweave.evals.claims.video_library import KeptIndexing, key_of
from ragweave.evals.judge import ASPECTS, Case, Judged
from ragweave.models.errors import InputError
from ragweave.tests.evals.claims.page import block_of, without_line


def test_a_clip_is_right_if_it_meets_a_gold_stretch_of_its_recording() -> None:
    found = [("b", 0.0, 30.0), ("a", 30.0, 60.0)]
    gold = [("a", 55.0, 58.0)]
    assert (video_rag.right(found, gold, 1), video_rag.right(found, gold, 2)) == (0.0, 1.0)
    assert video_rag.right(found, [("a", 60.0, 70.0)], 2) == 0.0


def test_every_open_question_has_an_answer_of_each_arm() -> None:
    asked = [q["question"] for q in read_rows("video_rag_questions") if q["kind"] == "open"]
    answers = {(row["question"], row["arm"]) for row in read_rows("video_rag_answers") if row["answer"]}
    assert answers == {(q, arm) for q in asked for arm in video_rag.JUDGED}


async def test_each_judge_answers_every_prompt_in_both_orders_from_kept_replies() -> None:
    found = await video_judged.verdicts(read_rows("video_rag_answers"), video_rag.WHOLE)
    assert [*found] == [*video_judged.judges()] and len(found) == 2
    for by_rival in found.values():
        assert [*by_rival] == [*video_rag.JUDGED[1:]]
        for judged in by_rival.values():
            assert len(judged) == 8 and not sum(row.unread for row in judged)
            assert all(len(row.marks[aspect]) == 2 for row in judged for aspect in ASPECTS)


async def test_equal_answers_split_their_verdicts() -> None:
    found = await video_judged.verdicts(read_rows("video_rag_answers"), video_rag.WHOLE)
    for by_rival in found.values():
        equal = [row for judged in by_rival.values() for row in judged if row.case.a == row.case.b]
        assert equal and all(row.marks[aspect] == [1.0, 0.0] for row in equal for aspect in ASPECTS)


def test_both_judges_reply_to_the_same_prompts_once() -> None:
    keys: dict[str, list[str]] = {}
    for row in read_rows(video_judged.RECORD):
        if "key" in row:
            keys.setdefault(row["judge"], []).append(row["key"])
    one, other = keys.values()
    assert sorted(one) == sorted(other) == sorted({*one})


def _judged(a: str, b: str, *marks: float) -> Judged:
    return Judged(Case(a, "Why?", a, b), {aspect: [*marks] for aspect in ASPECTS})


def test_shares_are_over_judges_and_orders_and_agreement_leaves_equal_answers_out() -> None:
    found = {
        "one": {"part": [_judged("a", "b", 1, 1), _judged("c", "d", 0, 1), _judged("e", "e", 1, 0)]},
        "other": {"part": [_judged("a", "b", 1, 1), _judged("c", "d", 0, 0), _judged("e", "e", 1, 0)]},
    }
    assert video_judged.votes(found, "part", "depth") == [1.0, 0.25, 0.5]
    assert video_judged.orders_agree(found, "depth") == 0.75
    assert video_judged.judges_agree(found, "depth") == 0.75
    text = video_judged.shown(found)
    assert (
        "12 verdicts: 2 judges, 3 pairs, both orders; agreement leaves out pairs of equal answers, 1" in text
    )
    assert text.splitlines()[8].split()[:4] == ["overall,", "one", "judge", "0.67"]


async def test_an_answer_that_no_kept_reply_judges_is_named() -> None:
    rows = [{"question": "Why?", "arm": arm, "answer": arm} for arm in ("whole", "part")]
    with pytest.raises(InputError, match="no reply is kept"):
        await video_judged.verdicts(rows, "whole")


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


def test_the_published_sort_counts_neighbours_that_a_chunk_names_too() -> None:
    graph = networkx.Graph()
    for key, named_in in {"mill": ["a", "b"], "river": ["b"], "owner": ["b"], "town": ["a", "c"]}.items():
        graph.add_node(key, mentions=[Mention(key, "", "", "s", chunk, []) for chunk in named_in])
    graph.add_edges_from([("mill", "river"), ("mill", "owner"), ("mill", "town")])
    assert video_published.best_chunks(graph, ["mill", "town"]) == ["b", "a"]
    assert video_published.best_chunks(graph, []) == []


def test_the_case_names_the_clips_that_each_arm_answers_from() -> None:
    said = [
        {"question": "Why?", "arm": arm, "answer": "a b", "clips": [["talk", 30, 61.5], ["talk", 0, 9]]}
        for arm in ("whole", "part")
    ]
    lines = video_rag.case(said).splitlines()
    assert lines[0] == "case: Why?" and len(lines) == 5
    assert lines[3].split() == ["whole", "2", "talk", "0:30-1:01,", "0:00-0:09"]


def test_the_page_shows_what_the_records_give(tmp_path: Path) -> None:
    report = asyncio.run(video_rag.claim(Given(None, tmp_path)))
    assert not without_line(report.text, video_rag.LEFT_OUT)
    assert block_of("video-rag") == shortened(report.text, video_rag.LEFT_OUT)
    report.draw(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
