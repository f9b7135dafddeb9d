"""`ragweave train`: what is refused before anything is trained."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from ragweave.evals.commands.eval import eval_app
from ragweave.evals.commands.synthesize import synthesize
from ragweave.evals.commands.train import train_app
from ragweave.models.errors import InputError, ModelError

ROWS = [
    {"query": "What colour is the car in the photo?", "label": "image", "source": "a"},
    {"query": "Summarise the whole webinar", "label": "video", "source": "b"},
    {"query": "When was the lease signed?", "label": "paragraph", "source": "b"},
]


def run(app, *arguments):
    found = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "router.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_runs_are_compared(tmp_path):
    for name, value in (("a", 0.5), ("b", 0.75)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"accuracy_micro": value}))
    assert "+0.2500" in run(eval_app, "compare", tmp_path / "a.json", tmp_path / "b.json")


def test_a_head_is_trained_saved_and_measured(tmp_path):
    parts = ("bo", "la", "mi", "ter"), ("ra", "sen", "to", "vi"), ("dul", "pam", "ki", "ne", "sh", "lo")
    words = ["".join(p) for p in itertools.product(*parts)]
    forms = {
        "none": "Write a poem about {}",
        "paragraph": "When was the {} bought?",
        "image": "Colour of the {} shown?",
    }
    rows = [
        {"query": form.format(" ".join(words[4 * i : 4 * i + 4])), "label": label, "source": label}
        for label, form in forms.items()
        for i in range(24)
    ]
    data = tmp_path / "train.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run(train_app, "router", "--data", data, "--out", tmp_path / "head.npz", "--no-templates")
    run(eval_app, "router", "--data", data, "--head", tmp_path / "head.npz", "--json", tmp_path / "r.json")
    flat = json.loads((tmp_path / "r.json").read_text())
    assert flat["accuracy_micro"] > 0.9
    assert flat["train_overlap"] == len(rows)


@pytest.fixture
def routed(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    rows = [{"query": f"who is {i}", "label": ("paragraph", "image")[i % 2]} for i in range(40)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "argv",
    [("router", "--kind", "encoder"), ("router", "--backbone", "t5"), ("evaluator", "--backbone", "t5")],
)
def test_a_checkpoint_needs_a_base_and_a_folder(argv: tuple[str, ...], main: Any, routed: Path) -> None:
    code, _, err = main("train", *argv, "--data", str(routed))
    assert code == 2
    assert "give --base and --out" in err


def test_a_checkpoint_needs_its_packages(
    main: Any, routed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    argv = ("train", "router", "--kind", "encoder", "--data", str(routed), "--base", str(tmp_path))
    code, _, err = main(*argv, "--out", str(tmp_path / "out"))
    assert code == 2
    assert "pip install 'ragweave[hf]'" in err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("noext", "give --out"),
        ("rows.jsonl", "is an .npz file"),
        ("folder.npz", "cannot be written (Is a directory)"),
        ("rows.jsonl/head.npz", "cannot be written"),
    ],
)
def test_a_head_that_cannot_be_written_is_refused_before_it_is_trained(
    main: Any, routed: Path, tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / "folder.npz").mkdir()
    held = sorted(tmp_path.rglob("*"))
    code, _, err = main(
        "train", "router", "--data", str(routed), "--out", str(tmp_path / name), "--no-templates"
    )
    assert code == 2
    assert told.lower() in " ".join(err.split()).lower()
    assert sorted(tmp_path.rglob("*")) == held


@pytest.mark.parametrize(
    ("rows", "error"),
    [("{", InputError), (json.dumps({"id": "a", "question": "q", "answers": ["x"]}), ModelError)],
)
def test_command_ends_with_a_named_error(tmp_path: Path, rows: str, error: type[Exception]) -> None:
    app = typer.Typer()
    app.command()(synthesize)
    questions = tmp_path / "q.jsonl"
    questions.write_text(rows, encoding="utf-8")
    result = CliRunner().invoke(app, [str(questions), str(tmp_path / "out.jsonl")])
    assert isinstance(result.exception, error)
