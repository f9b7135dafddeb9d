"""Routing over a mixed library: what each way of choosing corpora finds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.corpora.types import CORPORA
from ragweave.evals.mixed_data import fresh, library_rows, questions
from ragweave.models.errors import InputError

ITEMS: list[dict[str, Any]] = [
    {"kind": "paragraph", "id": "lease", "title": "Lease", "text": "The lease of the flat was signed on 3 May 2019."},
    {"kind": "paragraph", "id": "pump", "title": "Pump", "text": "The pump in the cellar was built in Tartu."},
    {"kind": "image", "id": "boiler", "title": "Boiler", "caption": "A red valve above the grey boiler in the photo."},
    {"kind": "clip", "id": "tour", "transcript": "Now we bleed the radiator.", "file": "t.mp4", "start": 5, "end": 9},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "1", "question": "When was the lease of the flat signed?", "gold": ["lease"]},
    {"id": "2", "question": "What colour is the valve in the photo of the boiler?", "gold": ["boiler"]},
    {"id": "3", "question": "At which moment of the recording do they bleed the radiator?", "gold": ["tour"]},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


def mixed(folder: Path, rows: list[dict[str, Any]], asked: list[dict[str, Any]], *more: str) -> Any:
    items, q = write(folder / "items.jsonl", rows), write(folder / "q.jsonl", asked)
    paths = [
        "--items",
        str(items),
        "--questions",
        str(q),
        "--work",
        str(folder / "w"),
        "--json",
        str(folder / "r.json"),
    ]
    return CliRunner().invoke(cli.app, ["eval", "mixed", *paths, *more])


def test_the_command_compares_every_way_and_writes_flat_figures(tmp_path: Path) -> None:
    done = mixed(tmp_path, ITEMS, QUESTIONS)
    assert done.exit_code == 0, done.output
    flat = json.loads((tmp_path / "r.json").read_text())
    assert flat["recall@5_oracle"] == flat["recall@5_routed"] == flat["recall@5_unified"] == 1
    assert flat["recall@5_image_alone"] == pytest.approx(1 / 3, abs=1e-3)
    assert flat["recall@5_random_corpus"] == pytest.approx(1 / 3, abs=1e-3)
    assert flat["right_corpus"] == 1 and flat["corpora_searched"] == 3 and flat["train_overlap"] == 0
    assert flat["routed_minus_oracle"] == 0
    assert flat["recall@1_oracle"] == flat["recall@5_unified_plain_RRF"] == 1
    for system in ("routed", "routed, four labels", "unified, one vector space", "clip alone"):
        assert system in done.stdout


def test_rows_that_would_be_left_out_stop_the_measurement(tmp_path: Path) -> None:
    done = mixed(tmp_path, [*ITEMS, {"kind": "clip", "id": "x", "text": "no times"}], QUESTIONS)
    assert isinstance(done.exception, InputError) and "needs start and end" in str(done.exception)


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
            text = " ".join(str(row.get(k, "")) for k in ("title", "text", "caption", "transcript")).casefold()
            assert q.text.casefold().strip(" ?.") not in text
