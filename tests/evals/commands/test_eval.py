import itertools
import json

import pytest
from typer.testing import CliRunner

from ragweave.evals.commands.eval import eval_app
from ragweave.evals.commands.train import train_app

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
