"""`ragweave train`: what is refused before anything is trained."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest


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
