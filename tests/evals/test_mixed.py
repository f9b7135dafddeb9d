"""Routing over a mixed library: what each way of choosing corpora finds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.corpora.types import CORPORA
from ragweave.evals.mixed import MixedBench, by_kind, compare, flat, prepare, rows_of
from ragweave.evals.mixed_data import MixedQuestion, fresh, library_rows, questions
from ragweave.evals.runner import Runner
from ragweave.models.errors import InputError

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
