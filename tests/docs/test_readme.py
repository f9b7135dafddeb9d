"""What the first page shows is what the command prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.docs.pages import ROOT, blocks

SAMPLE = re.compile(r"\$ ragweave ask '(?P<question>[^']+)'\n(?P<answer>.+)", re.S)


def test_the_answer_of_the_first_page_is_the_one_that_is_printed(
    main: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    [sample] = filter(None, [SAMPLE.search(block) for block in blocks(ROOT / "README.md", "")])
    assert main("index", "examples/library")[0] == 0
    code, out, _ = main("ask", sample["question"])
    assert code == 0 and out.strip() == sample["answer"].strip()
