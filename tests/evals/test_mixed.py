"""Routing over a mixed library: what each way of choosing corpora finds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.components.evidence import Sentence
from ragweave.corpora.types import CORPORA
from ragweave.evals.answers import AnswerVerdict, read_questions, write_answers
from ragweave.evals.mixed import MixedBench, by_kind, compare, flat, prepare, rows_of
from ragweave.evals.mixed_data import MixedQuestion, fresh, library_rows, questions
from ragweave.evals.pairs import measure, read_pairs, scorer
from ragweave.evals.runner import Runner
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.models.relevance import Passage
from ragweave.tests.support import ScriptedChat

ITEMS: list[dict[str, Any]] = [
    {
        "kind": "paragraph",
        "id": "lease",
        "title": "Lease",
        "text": "The lease of the flat was signed on 3 May 2019.",
    },
    {
        "kind": "paragraph",
        "id": "pump",
        "title": "Pump",
        "text": "The pump in the cellar was built in Tartu.",
    },
    {
        "kind": "image",
        "id": "boiler",
        "title": "Boiler",
        "caption": "A red valve above the grey boiler in the photo.",
    },
    {
        "kind": "clip",
        "id": "tour",
        "transcript": "Now we bleed the radiator.",
        "file": "t.mp4",
        "start": 5,
        "end": 9,
    },
]
QUESTIONS = [
    MixedQuestion("1", "When was the lease of the flat signed?", "paragraph", ("lease",)),
    MixedQuestion("2", "What colour is the valve in the photo of the boiler?", "image", ("boiler",)),
    MixedQuestion("3", "At which moment of the recording do they bleed the radiator?", "clip", ("tour",)),
]


async def test_every_way_finds_what_each_corpus_holds(home: Path, tmp_path: Path) -> None:
    bench = MixedBench(await prepare(ITEMS, tmp_path), Context(mode="extractive"))
    found = await compare(bench, QUESTIONS, Runner(tmp_path / "runs"))
    made = flat(found, len(QUESTIONS))
    assert made["recall@5_oracle"] == made["recall@5_routed"] == made["recall@5_unified"] == 1
    assert made["right_corpus"] == 1 and made["corpora_searched"] == 3 and made["routed_minus_oracle"] == 0
    assert made["recall@1_oracle"] == made["recall@5_unified_plain_RRF"] == 1
    assert [row[0] for row in rows_of(found)] == [row[0] for row in by_kind(found, QUESTIONS)] == [*found]


async def test_rows_that_would_be_left_out_stop_the_measurement(home: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs start and end"):
        await prepare([*ITEMS, {"kind": "clip", "id": "x", "text": "no times"}], tmp_path)


@pytest.mark.data
def test_no_question_over_the_public_data_is_the_text_that_is_indexed_for_it(data_dir: Path) -> None:
    rows = {r["id"]: r for r in library_rows(data_dir)}
    asked, later = questions(data_dir), fresh(data_dir)
    assert len(asked) > 350
    assert Counter(q.corpus for q in later) == dict.fromkeys(CORPORA, 40)
    assert not {q.text for q in asked} & {q.text for q in later} and len({q.id for q in later}) == 200
    for kind in ("image", "clip"):
        old, new = ({g for q in part if q.corpus == kind for g in q.gold} for part in (asked, later))
        assert not old & new
    for q in [*asked, *later]:
        for gold in q.gold:
            row = rows[gold]
            assert row["kind"] == q.corpus
            text = " ".join(
                str(row.get(k, "")) for k in ("title", "text", "caption", "transcript")
            ).casefold()
            assert q.text.casefold().strip(" ?.") not in text


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


def test_video_mme_and_lvbench_rows_are_multiple_choice(tmp_path: Path) -> None:
    mme = {
        "question_id": "601-1",
        "question": "What is shown?",
        "options": ["A. A cat.", "B. A dog."],
        "answer": "B",
    }
    (q,) = read_questions(lines(tmp_path / "mme.jsonl", {**mme, "task_type": "Recognition"}))
    assert (q.id, q.letter, q.kind, q.scored) == ("601-1", "B", "Recognition", True)
    assert q.text == "What is shown?\nA. A cat.\nB. A dog."
    qa = [
        {
            "uid": 7,
            "question": "Who wins?\n(A) Red\n(B) Blue\n(C) Nobody",
            "answer": "C",
            "time_reference": "00:10",
        }
    ]
    (q,) = read_questions(lines(tmp_path / "lv.jsonl", {"key": "abc", "type": "sport", "qa": qa}))
    assert (q.id, q.letter, q.kind) == ("7", "C", "sport")


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("B. A dog.", "correct"),
        ("(b)", "correct"),
        ("The answer is B", "correct"),
        ("A. A cat.", "wrong"),
        ("", "abstained"),
    ],
)
def test_a_multiple_choice_is_scored_by_its_letter(tmp_path: Path, said: str, verdict: str) -> None:
    row = {"id": "1", "question": "What?", "options": ["A cat.", "A dog."], "answer": "b"}
    (q,) = read_questions(lines(tmp_path / "q.jsonl", row))
    sentences = (Sentence(text=said, support="verified"),) if said else ()
    assert (
        AnswerVerdict(q, Answer(text=said, sentences=sentences, abstained=not said), 0.1).verdict == verdict
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"question_id": "1", "question": "What?", "options": ["x", "y"]}, "no multiple choice"),
        (
            {"question_id": "1", "question": "What?", "options": ["x", "y"], "answer": "D"},
            "not the letter of one",
        ),
        ({"question_id": "1", "question": "What?", "options": ["x"], "answer": "A"}, "no options"),
        ({"qa": ["x"]}, "no multiple choice"),
        ({"question": "What?"}, "has no id"),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path: Path, row: Any, why: str) -> None:
    with pytest.raises(InputError, match=f"line 1 of q.jsonl .*{why}|line 1 of q.jsonl {why}"):
        read_questions(lines(tmp_path / "q.jsonl", row))


@pytest.mark.parametrize("text", ["[", "[]", '{"0": [{}]}', '{"0": 3}', '{"0": [{"questions": [{}]}]}'])
def test_a_file_of_collections_that_is_none_gets_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"d\.json"):
        read_questions(tmp_path / "d.json")


def test_answers_are_written_for_the_judge(tmp_path: Path) -> None:
    (q,) = read_questions(lines(tmp_path / "q.jsonl", {"id": "1", "question": "Why?", "answers": ["x"]}))
    write_answers(tmp_path / "o" / "a.jsonl", [AnswerVerdict(q, Answer(text="Because [1]"), 0.1)])
    (row,) = map(json.loads, (tmp_path / "o" / "a.jsonl").read_text().splitlines())
    assert row == {"id": "1", "question": "Why?", "answer": "Because [1]", "kind": "", "abstained": False}


ROWS = [
    {
        "qid": "1",
        "question": "When was the tower built?",
        "title": "Tower",
        "passage": "It was built in 1874.",
        "label": 1,
    },
    {"qid": "1", "question": "When was it built?", "title": "Bread", "passage": "Rye is milled.", "label": 0},
    {
        "qid": "2",
        "question": "Who baked the bread?",
        "title": "Bread",
        "passage": "Jon baked the bread.",
        "label": 1,
    },
    {
        "qid": "2",
        "question": "Who baked the bread?",
        "title": "Tower",
        "passage": "It has steps.",
        "label": -1,
    },
]


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


async def test_language_model_grades_through_the_graphs_own_prompt(tmp_path: Path) -> None:
    reply = {"verdicts": [{"n": 1, "verdict": "relevant"}, {"n": 2, "verdict": "irrelevant"}]}
    with override(judge=ScriptedChat(react=lambda messages: reply), writer=ScriptedChat()):
        found = (await measure(read_pairs(written(tmp_path / "p.jsonl", ROWS)), scorer("llm"))).figures()
    assert found["auc"] == 1.0


def test_popqa_in_its_published_form_becomes_pairs_by_the_title_of_the_subject(tmp_path: Path) -> None:
    texts = [("Pell", "Pell is\na town."), ("Bread", "Rye is milled."), ("Pell", "It has a harbour.")]
    ctxs = [{"title": title, "text": text, "id": "7"} for title, text in texts]
    row = {"id": 3, "question": "Where is Pell?", "s_wiki_title": "Pell", "ctxs": [*ctxs, *ctxs * 4]}
    (asked,) = read_pairs(written(tmp_path / "p.jsonl", [row]))
    assert (len(asked.passages), asked.labels.tolist()[:3]) == (10, [1, 0, 1])
    assert asked.passages[0] == Passage("", "Pell is a town."), "the title would give the label away"
