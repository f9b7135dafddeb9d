from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.evals.corpus import Prepared, prepare
from ragweave.evals.data import read_jsonl
from ragweave.evals.fusion import (
    CONTROL,
    Asked,
    Ranked,
    compare,
    figures,
    gate_curve,
    good_rewrites,
    shown,
)
from ragweave.models import relevance
from ragweave.models.relevance import Head


def ranked(*hits: int) -> Ranked:
    """A ranking of one gold passage per question: found (1) or not (0)."""
    made = Ranked()
    for hit in hits:
        made.add(["gold"] if hit else ["other"], ["gold"], 0.002)
    return made


def test_saved_and_lost_questions_are_counted_against_the_control() -> None:
    rows = figures({CONTROL: ranked(1, 1, 0, 0), "better": ranked(1, 0, 1, 1)})
    assert (rows["better"]["saved"], rows["better"]["lost"]) == (2, 1)
    assert (rows[CONTROL]["saved"], rows[CONTROL]["lost"]) == (0, 0)
    assert rows["better"]["R@5 - control"][0] == pytest.approx(0.25)
    low, high = rows["better"]["R@5 - control"][1:]
    assert low < 0.25 < high
    assert rows["better"]["ms"] == pytest.approx(2.0)


def test_ways_over_other_questions_are_not_compared() -> None:
    rows = figures({CONTROL: ranked(1, 1, 0), "fewer": ranked(1, 0)})
    assert "saved" not in rows["fewer"]
    assert "fewer" in shown(rows)


def test_gate_curve_weighs_calls_saved_against_recall_lost() -> None:
    plain, always = ranked(1, 1, 0, 0), ranked(1, 1, 1, 0)
    found = gate_curve(plain, always, [0.95, 0.8, 0.3, -0.9])
    curve = {r["threshold"]: r for r in found["curve"]}
    assert curve[0.5]["calls saved"] == 0.5
    assert curve[0.5]["R@5 lost"] == 0.0
    assert curve[0.0]["calls saved"] == 0.75
    assert curve[0.0]["R@5 lost"] == pytest.approx(0.25)
    assert found["auc"] == 1.0


def test_written_rewrites_are_four_at_most_and_none_is_empty() -> None:
    written = good_rewrites()
    assert len(written) == 150
    assert all(1 <= len(queries) <= 4 and all(q.strip() for q in queries) for queries in written.values())


@pytest.mark.data
def test_written_rewrites_belong_to_questions_of_the_sets(data_dir: Path) -> None:
    ids = {r["id"] for s in ("multihop_hotpotqa", "squad_xquad_en") for r in read_jsonl(data_dir / s / "queries.jsonl")}
    assert good_rewrites().keys() <= ids


@pytest.fixture
async def prepared(tmp_path: Path, home: Path) -> Prepared:
    passages = [
        {"id": "tower", "title": "Tower", "text": "The lighthouse tower of Pell is 40 metres tall."},
        {"id": "lens", "title": "Lens", "text": "The lens of the lighthouse was made in Ostrand."},
        {"id": "bread", "title": "Bread", "text": "Mix rye flour and water."},
    ]
    return await prepare(passages, "tiny", tmp_path)


async def test_every_way_ranks_every_question(prepared: Prepared) -> None:
    asked = [
        Asked("How tall is the lighthouse tower of Pell?", ("tower",), ("height of the tower",)),
        Asked("Where was the lens made and how tall is the tower?", ("lens", "tower"), ("lens made in",)),
    ]
    found, signals = await compare(prepared, asked)
    assert len(signals) == 2
    assert {"dense", "lexical", "hybrid", "pure RRF", CONTROL, "+ good rewrites"} <= found.keys()
    assert all(len(r.ms) == 2 for r in found.values())
    assert found[CONTROL].values["all-gold@5"] == [1.0, 1.0]


async def test_question_is_ranked_by_the_head_that_has_not_seen_it(prepared: Prepared) -> None:
    used: list[str] = []

    class Spy(Head):
        def scores(self, seen: relevance.Looked) -> relevance.Scores:
            used.append("unseen")
            return super().scores(seen)

    shipped = relevance.head()
    spy = Spy(shipped.full, shipped.own, shipped.typical, shipped.slope, shipped.offset)
    await compare(prepared, [Asked("How tall is the tower?", ("tower",), (), spy)])
    assert used
    assert relevance.head() is shipped
