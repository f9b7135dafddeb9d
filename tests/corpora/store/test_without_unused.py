"""What docs/deploy.md says may be uninstalled is not needed: Chroma asks for it and embedded use does not touch it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def unused() -> list[str]:
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^pip uninstall -y (.+)$", page, re.M)
    return line.split()


@pytest.mark.chroma
def test_a_library_and_its_index_are_written_and_asked_without_them(home: Path, tmp_path: Path) -> None:
    for name in unused():
        (tmp_path / f"{name}.py").write_text("raise ImportError('it is not installed')\n")
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    code = """
import sys, chromadb
from pathlib import Path
from ragweave.app.cli import main
from ragweave.corpora.store import index_upkeep, vectors
index_upkeep.INDEX_FROM, vectors.Vectors.stays = 1, True
assert main(["index", sys.argv[1]]) == 0 and main(["ask", "When was the harbour built?"]) == 0
(folder,) = (Path(sys.argv[2]) / "libraries").glob("*/chroma")
assert sum(c.count() for c in chromadb.PersistentClient(str(folder)).list_collections()) == 1
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code, str(tmp_path / "a.md"), str(home)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "1874" in done.stdout, done.stderr
