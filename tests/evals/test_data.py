"""Measuring pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragweave.components.context import Context
from ragweave.corpora import types as corpora
from ragweave.evals.bootstrap import interval
from ragweave.evals.data import read_routed
from ragweave.evals.images import astronomy, slides, transcribed
from ragweave.evals.sets import folder_of, names, pack
from ragweave.evals.video import (
    ask_all,
    figures,
    prepare,
    read_asked,
)
from ragweave.models.errors import InputError

LABELS = ("none", "image")


def write(tmp_path, *lines):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"query": "a", "label": "image"}', "{broken"], "line 2 of rows.jsonl is not JSON"),
        (["[1, 2]"], "line 1 of rows.jsonl is not an object"),
        (['{"query": "a"}'], "line 1 of rows.jsonl has no label"),
        (['{"query": "a", "label": "table"}'], "unknown label 'table'"),
        (['{"query": 3, "label": "image"}'], "query of row 1 of rows.jsonl is not text"),
        ([""], "rows.jsonl holds no rows"),
        (["[" * 100_000], "line 1 of rows.jsonl is not JSON"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        read_routed(write(tmp_path, *lines), LABELS)


def test_questions_are_read_as_universalrag_released_them_with_labels_as_words_or_numbers(tmp_path):
    file = tmp_path / "train.json"
    rows = [
        {"index": "mmlu_58", "question": "What is 2Z?", "answer": "A", "source": "mmlu", "gt_retrieval": 0},
        {"index": "mmlu_1", "question": "And 3Z?", "gt_retrieval": "no"},
        {"index": "lv_2", "question": "What does he drop?", "source": "lvbench", "gt_retrieval": 4},
    ]
    file.write_text(json.dumps(rows), encoding="utf-8")
    found = read_routed(file, corpora.LABELS)
    assert [(row.id, row.label, row.source) for row in found] == [
        ("mmlu_58", "none", "mmlu"),
        ("mmlu_1", "none", ""),
        ("lv_2", "clip", "lvbench"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{broken", "train.json cannot be read"),
        ('{"question": "a"}', "train.json is no list of questions"),
        ('[{"question": "a"}]', "row 1 of train.json has no gt_retrieval"),
        ('[{"question": "a", "gt_retrieval": 9}]', "row 1 of train.json has the unknown label '9'"),
        ('[{"question": "a", "gt_retrieval": "paragraph+table"}]', "the unknown label 'paragraph.table'"),
    ],
)
def test_a_bad_released_file_is_refused_with_the_row(tmp_path, text, message):
    (tmp_path / "train.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_routed(tmp_path / "train.json", LABELS)


@pytest.mark.data
def test_captions_are_withheld_and_every_slide_is_told_apart(data_dir: Path, tmp_path: Path) -> None:
    folder, asked = astronomy(data_dir, tmp_path)
    text = "\n".join(p.read_text() for p in folder.glob("*.md"))
    assert len(asked) == 116 and not [a.gold for a in asked if a.query in text]
    assert text.count("](<.images/") == 116
    pictures, questions = slides(data_dir, tmp_path)
    names = {p.stem for p in pictures.iterdir()}
    assert len(names) == 327 and {q.gold for q in questions} <= names and len(transcribed()) == 24


TALK = """WEBVTT

00:00:00.000 --> 00:00:06.000
The comet of Pell was found by Ada Ostrander with a sixty centimetre telescope on Mount Helder.

00:00:40.000 --> 00:00:46.000
A loaf of rye bread rests sixteen hours before the baker Boris Tamm bakes it in a stone oven.
"""


async def test_questions_are_asked_of_a_folder_with_subtitles(tmp_path: Path, home: Path) -> None:
    from ragweave.graphs.video_rag import graph

    data = tmp_path / "data"
    data.mkdir()
    (data / "talk.vtt").write_text(TALK, encoding="utf-8")
    row = {"id": 1, "question": "Who found the comet?", "answers": ["Ostrander"], "videos": ["talk"], "t": 3}
    (data / "qa.jsonl").write_text(json.dumps(row), encoding="utf-8")
    library = await prepare(data, tmp_path / "work", subtitles=True)
    outcomes = await ask_all(
        graph, read_asked(data / "qa.jsonl"), Context(library=library, mode="extractive")
    )
    found = figures(outcomes)
    assert found["contains_gold"] == found["time_within_15s"] == found["retrieved_within_15s"] == 1.0


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "mill"
    (folder / "library" / "mail").mkdir(parents=True)
    (folder / "library" / "mail" / "grün.md").write_text("The mill stands.", encoding="utf-8")
    (folder / "library" / "table.xlsx").write_bytes(bytes(range(256)))
    (folder / "questions.jsonl").write_text('{"id": "1", "question": "Does it stand?"}\n', encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_packed_set_is_read_as_it_was(made: Path, tmp_path: Path) -> None:
    pack(made, tmp_path / "kept")
    found = folder_of("mill", tmp_path / "kept", tmp_path / "cache")
    assert found.name == "mill" and files(found) == files(made)


def test_the_same_files_make_the_same_bytes(made: Path, tmp_path: Path) -> None:
    first = pack(made, tmp_path / "kept").read_bytes()
    for path in made.rglob("*"):
        path.touch()
    assert pack(made, tmp_path / "kept").read_bytes() == first


def test_a_changed_set_is_unpacked_again(made: Path, tmp_path: Path) -> None:
    pack(made, tmp_path / "kept")
    folder_of("mill", tmp_path / "kept", tmp_path / "cache")
    (made / "library" / "new.md").write_text("The mill turns.", encoding="utf-8")
    pack(made, tmp_path / "kept")
    assert files(folder_of("mill", tmp_path / "kept", tmp_path / "cache")) == files(made)


def test_a_folder_is_a_set_as_it_is(made: Path) -> None:
    assert folder_of(made) == made


def test_an_unknown_name_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a folder") as refused:
        folder_of("windmill")
    assert "orchard" in str(refused.value.remedy)


def test_a_folder_without_questions_is_not_packed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no set"):
        pack(tmp_path, tmp_path / "kept")


@pytest.mark.parametrize("name", names())
def test_the_gold_files_of_a_kept_set_are_in_its_library(name: str, tmp_path: Path) -> None:
    folder = folder_of(name, cache=tmp_path)
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        assert all((folder / "library" / file).is_file() for file in json.loads(line)["gold_files"])


def test_the_interval_is_about_two_standard_errors_wide():
    values = np.random.default_rng(1).normal(size=400)
    found = interval(values.tolist())
    error = values.std() / 20
    assert found.mean == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
