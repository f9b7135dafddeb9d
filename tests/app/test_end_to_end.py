"""The example library, indexed and asked as a person would: real files, real stores, no language model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds the example library."""
    home = tmp_path_factory.mktemp("examples") / "home"
    command = [sys.executable, "-m", "ragweave.app.cli", "index", str(EXAMPLES / "library"), "--quiet"]
    subprocess.run(command, env={**os.environ, "RAGWEAVE_HOME": str(home)}, check=True)
    return home


@pytest.fixture(autouse=True)
def _indexed(made: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, home)
    monkeypatch.chdir(EXAMPLES.parent)


QUESTIONS = [
    ("When was the lighthouse of Skerry Holm first lit?", "1874", ["lighthouse.md"]),
    ("What does the new pier cost?", "2.6 million", ["council-2024.pdf"]),
    ("How many pairs of razorbills breed below the lighthouse?", "240", ["birds.rst"]),
    ("When did the shipyard that built the Marten close?", "1987", ["ferry.md", "shipyards.txt"]),
    ("灯塔茶室几点关门?", "六点", ["灯塔茶室.md"]),
]


@pytest.mark.parametrize(("question", "fact", "files"), QUESTIONS, ids=[q[2][-1] for q in QUESTIONS])
def test_a_quote_holds_the_fact_and_cites_its_file(
    main: Any, question: str, fact: str, files: list[str]
) -> None:
    code, out, _ = main("ask", question, "--json")
    answer = Answer.model_validate_json(out)
    assert code == 0 and answer.kind == "quotes"
    assert any(fact in s.text for s in answer.sentences)
    cited = {Path(c.locator["file"]).name for c in answer.citations}
    assert set(files) <= cited
    for sentence in answer.sentences:
        assert sentence.support == "quoted" and len(sentence.citations) == 1


def test_a_chat_server_that_is_down_leaves_quotes_and_a_note(
    main: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragweave.models.settings import model_settings

    monkeypatch.setenv("RAGWEAVE_CHAT", "some-model")
    monkeypatch.setenv("RAGWEAVE_CHAT_URL", "http://127.0.0.1:9/v1")
    model_settings.cache_clear()
    code, out, err = main("ask", QUESTIONS[0][0])
    assert (code, err) == (0, "")
    assert "1874" in out
    assert "Note: " in out and "127.0.0.1:9" in out
