"""The library of changing facts, and what is measured on it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from ragweave.evals.data import read_jsonl
from ragweave.evals.recency import measure
from ragweave.tests.support.library import build_library

SCRIPT = Path(__file__).parents[2] / "examples" / "news.py"


@pytest.fixture
def news(tmp_path: Path) -> Path:
    runpy.run_path(str(SCRIPT))["make"](tmp_path / "news")
    return tmp_path / "news"


def stated(folder: Path, pattern: str) -> dict[str, str]:
    found = {f.name: re.search(pattern, f.read_text(encoding="utf-8"), re.M) for f in folder.glob("*.md")}
    return {name: m[1] for name, m in found.items() if m}


def test_gold_of_a_latest_question_is_the_newest_report_with_its_title(news: Path) -> None:
    when, titles = stated(news / "files", r"^date: (\S+)$"), stated(news / "files", r"^# (.+)$")
    rows = read_jsonl(news / "questions.jsonl")
    for row in (r for r in rows if r["kind"] == "latest" and "青" not in r["question"]):
        (gold,) = row["gold"]
        rivals = [name for name, title in titles.items() if title == titles[gold]]
        assert len(rivals) == 6
        assert max(rivals, key=when.__getitem__) == gold
        assert row["answers"][0] in (news / "files" / gold).read_text(encoding="utf-8")


def test_library_is_the_same_on_every_machine(news: Path, tmp_path: Path) -> None:
    runpy.run_path(str(SCRIPT))["make"](tmp_path / "again")
    for file in (news / "files").glob("*.md"):
        assert file.read_bytes() == (tmp_path / "again" / "files" / file.name).read_bytes()


def row(kind: str, question: str, answer: str, gold: str) -> dict[str, Any]:
    return {"kind": kind, "question": question, "answers": [answer], "gold": [gold]}


async def test_newest_fact_is_answered_with_decay_and_old_truth_stays(tmp_path: Path, home: Path) -> None:
    texts = {
        f"{n}.md": f"---\ndate: 2023-0{n}-01\n---\n\n# Fare\n\nThe fare of the Pell ferry is {n}.50 crowns.\n"
        for n in (3, 1, 2)
    }
    texts["old.md"] = "---\ndate: 2015-01-01\n---\n\n# Ferry\n\nThe Pell ferry was founded in 1843 by fishermen.\n"
    await build_library(tmp_path / "texts", texts, "news")
    rows = [
        row("latest", "What is the latest fare of the Pell ferry?", "3.50", "3.md"),
        row("timeless", "When was the Pell ferry founded?", "1843", "old.md"),
        row("old", "What is the latest on who founded the Pell ferry?", "1843", "old.md"),
    ]
    out = await measure(rows, "rag_fusion")
    assert out["latest"]["asked"] == out["old"]["asked"] == 1.0
    assert out["latest"]["first auto"] == out["latest"]["right auto"] == 1.0
    assert out["timeless"]["asked"] == 0.0
    assert all(figures["harmed"] == 0.0 for figures in out.values())
