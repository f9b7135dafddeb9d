"""A seventh corpus is added in one file, `corpora/types.py`; everything else takes it from there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, json, os, sys
from pathlib import Path
from ragweave.corpora.types import CORPORA, LABELS
assert CORPORA[-1] == LABELS[-1] == "table"

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.evals.data import read_routed
from ragweave.graphs.universal_rag import graph
from ragweave.models.chat import override
from ragweave.components.context import Context
from ragweave.tests.support import ScriptedChat

folder = Path(sys.argv[1])
rows = [
    {"kind": "table", "title": "Sales", "text": "Region | Units\\nNorth | 412\\nSouth | 97"},
    {"kind": "paragraph", "text": "The cellar holds the pump."},
]
(folder / "items.jsonl").write_text("\\n".join(map(json.dumps, rows)))
(folder / "train.jsonl").write_text(json.dumps({"query": "How many units were sold in the north?", "label": "table"}))
assert read_routed(folder / "train.jsonl", LABELS)[0].label == "table"

async def main():
    await index([folder / "items.jsonl"], "seven")
    library = await open_library("seven")
    assert await library.counts() == {"paragraph": 1, "table": 1}
    model = ScriptedChat(replies=["table", "412 units were sold in the North. [1]"])
    with override(writer=model):
        state = await graph.ainvoke(
            {"messages": [("human", "How many units were sold in the North?")]},
            context=Context(library="seven", corpora=(), mode="llm", check_by="local", route_by="llm"),
        )
    assert "table: rows of a table" in model.calls[0].prompt
    assert state["routes"][0]["corpora"] == ["table"]
    assert {e["corpus"] for e in state["evidence"]} == {"table"}
    Context(corpora=("table",))

asyncio.run(main())
print("seven labels")
"""


HOOK = """
import importlib.util, pathlib, sys
import ragweave.corpora
spec = importlib.util.spec_from_file_location("ragweave.corpora.types", pathlib.Path(__file__).parent / "changed.py")
module = importlib.util.module_from_spec(spec)
sys.modules["ragweave.corpora.types"] = module
spec.loader.exec_module(module)
ragweave.corpora.types = module
"""


def test_a_table_corpus_is_routed_to_indexed_and_searched(home: Path, tmp_path: Path) -> None:
    source = Path(sys.modules["ragweave.corpora.types"].__file__ or "").read_text(encoding="utf-8")
    added = re.sub(r'"video"\]', '"video", "table"]', source)
    end = '\n}\n"""What each label stands for'
    added = added.replace(end, f'\n    "table": "rows of a table.",{end}')
    assert added.count('"table"') == 3, "corpus, label and what it means"
    # Every process of the run takes the changed file in the place of the real one, the reading process too.
    (tmp_path / "changed.py").write_text(added, encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    (tmp_path / "data").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "data")],
        env={**os.environ, "RAGWEAVE_HOME": str(home), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "seven labels" in done.stdout
