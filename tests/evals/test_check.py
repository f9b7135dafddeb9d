from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.components.evidence import Strip
from ragweave.evals.check import OpinionBy, cases, checked, grouped, measured, read, right_sentences, write
from ragweave.evals.planting import KINDS, RIGHT, CheckedSentence, planted
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat

HOUSE = "The keeper of the light is Ada Quill. She gets 40 euros since 3 May 1931. Her helper Jo Reef gets 25 euros."
BOAT = "The ferry sails on Monday at 9:30. Bert Osk is the captain of the ferry since 1950 and gets 60 euros."


def strip(name: str, text: str) -> Strip:
    return {
        "id": f"{name}#0", "evidence": name, "text": text, "title": name, "locator": {"file": f"/{name}.md"},
        "origin": "library", "query": "", "hop": 1, "score": 1.0,
    }  # fmt: skip


def said(n: int, text: str) -> CheckedSentence:
    house, boat = strip("house", HOUSE), strip("boat", BOAT)
    return CheckedSentence(f"q{n}:0", RIGHT, text, "Who is the keeper?", (house,), (house, boat), ("/house.md",))


TEXT = "The keeper is Ada Quill, who gets 40 euros since 3 May 1931."


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_error_changes_what_is_said_or_cited(kind: str) -> None:
    wrong = KINDS[kind](said(1, TEXT))
    assert wrong is not None
    assert (wrong.text != TEXT) == (kind != "citation")
    assert [s["id"] for s in wrong.named] == (["boat#0"] if kind == "citation" else ["house#0"])
    assert kind != "elsewhere" or "60 euros" in wrong.text


def test_errors_are_planted_in_turn_each_into_another_sentence_and_always_the_same() -> None:
    right = [said(n, TEXT) for n in range(20)]
    wrong = planted(right, 9)
    assert wrong == planted(right, 9)
    assert len({s.id for s in wrong}) == 9 and {s.kind for s in wrong} == set(KINDS)
    answers = grouped(right, wrong, 4)
    assert all(len(a) <= 4 and len({s.id for s in a}) == len(a) for a in answers)
    assert sum(map(len, answers)) == 29


async def test_figures_tell_what_was_caught_and_what_was_marked_by_mistake(tmp_path: Path) -> None:
    right = [said(1, "The keeper of the light is Ada Quill."), said(2, "La gardienne du phare est Ada Quill.")]
    wrong = [f for kind in KINDS if (f := next(iter(planted([said(3, TEXT)], 1)), None)) and kind == "number"]
    alone = await checked([right, wrong], "none")
    assert measured(alone)["right marked"] == 0.5 and measured(alone)["planted shown as verified"] == 0
    judged = await checked([right, wrong], "scripted")
    write(judged, tmp_path / "kept.jsonl")
    figures = measured(read([tmp_path / "kept.jsonl"]))
    assert figures == measured(judged)
    assert figures["right marked"] == 0 and figures["planted caught"] == 1
    assert figures["right verified without a model"] == 0.5


async def test_right_sentences_are_those_of_right_answers_with_what_they_cite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(query: str, **_: Any) -> list[Any]:
        rows = (("house", HOUSE), ("boat", BOAT))
        return [{**strip(n, t), "id": n, "relevance": 1.0, "corpus": "paragraph"} for n, t in rows]

    monkeypatch.setattr("ragweave.evals.check.asearch", found)
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "a", "question": "Who is the keeper?", "answers": ["Ada Quill"]}\n'
        '{"id": "b", "question": "Who is the captain?", "answers": ["Bert Osk"]}\n'
    )
    kept = tmp_path / "answers.jsonl"
    kept.write_text(
        '{"id": "set/a", "answer": "It is Ada Quill. [1] She gets 40 euros. [1]", "cited": ["house.md"]}\n'
        '{"id": "set/b", "answer": "It is Jo Reef. [1]", "cited": ["boat.md"]}\n'
    )
    right = await right_sentences(tmp_path, "lib", kept)
    assert sorted(s.text for s in right) == ["It is Ada Quill.", "She gets 40 euros."]
    assert {s.named[0]["evidence"] for s in right} == {"house"}
    answers = await cases(tmp_path, "lib", None, 2, 1, 5)
    assert [s.kind for a in answers for s in a].count(RIGHT) == 2


@pytest.mark.parametrize(
    ("by", "reply"),
    [
        ("alone", '{"verdicts": [{"n": 1, "passage": 1, "words": "the light is Ada Quill", "verdict": "supported"}]}'),
        ("faithfulness", '{"statements": [{"n": 1, "reason": "it says so", "verdict": 1}]}'),
    ],
)
async def test_a_model_judges_without_the_local_check(by: OpinionBy, reply: str) -> None:
    right = [said(1, "The keeper of the light is Ada Quill."), said(2, "She keeps a dog.")]
    with override(writer=ScriptedChat(replies=[reply])):
        found = await checked([right], by)
    assert [s["support"] for s in found.sentences] == ["verified", "unverified"]
    assert [s["local"] for s in found.sentences] == ["doubted", "doubted"]
    assert [a["calls"] for a in found.answers] == [1]
