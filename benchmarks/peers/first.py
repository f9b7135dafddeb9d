"""The first minute: from a fresh folder to a cited answer, with a key and without: `first.py [PEER ...]`.

After `run.py build`, whose seconds are part of it. `examples/library` is indexed and asked one question, each
by a process of its own, once beside the scripted model (a key) and once with no server and no key. Typed
commands and lines of a program are counted as TYPED and the adapters have them. Kept as run.py keeps its
figures.
"""

from __future__ import annotations

import ast
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from desk import Desk  # noqa: E402
from run import SHARED, call, keep, measured, options, took  # noqa: E402

LIBRARY = HERE.parent.parent / "examples" / "library"
QUESTION, FILE = "When was the lighthouse of Skerry Holm first lit?", "lighthouse.md"
PROGRAM = (
    "python -m venv env",
    "env/bin/pip install PACKAGES",
    "export OPENAI_API_KEY=...",
    "env/bin/python program.py",
)
TYPED = {
    "ragweave": (
        "python -m venv env",
        "env/bin/pip install ragweave",
        "env/bin/ragweave index NOTES",
        "env/bin/ragweave ask QUESTION",
        "export RAGWEAVE_CHAT=openai:NAME",
        "export OPENAI_API_KEY=...",
    ),
    "open_webui": (*PROGRAM[:3], "env/bin/open-webui serve"),
}
"""What a person types, with a key; of Ragweave's the last two are not needed. The rest is a page, or a program."""
HELPERS = {"llamaindex": "llama.py", "langgraph_crag": "tutorial.py"}
NOBODY: Any = SimpleNamespace(base_url="http://127.0.0.1:9/v1", calls=[], encoding=0.0)
LIMIT = 900.0


def lines_of(peer: str) -> int:
    """Return the lines of code of a peer's adapter and of what it shares, without comments and texts on it."""
    files = [HERE / "adapters" / f"of_{peer}.py", *([HERE / HELPERS[peer]] if peer in HELPERS else [])]
    held: set[tuple[Path, int]] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.stmt) and not (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            ):
                whole = not hasattr(node, "body")
                held |= {
                    (file, n) for n in range(node.lineno, (node.end_lineno if whole else node.lineno) + 1)
                }
    return len(held)


def by_adapter(peer: str, work: Path, desk: Any) -> dict[str, Any]:
    """Index and ask through an adapter; what failed is told."""
    store, began = work / "stores" / f"{peer}-first", time.perf_counter()
    shutil.rmtree(store, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    index = call(peer, work, desk, "index", store, str(LIBRARY), fails=True, limit=LIMIT)
    told, row = index["told"], {}
    if not told and not index["killed"]:
        rows = [{"id": "first", "question": QUESTION}]
        asked = call(peer, work, desk, "ask", store, "1", rows, fails=True, limit=LIMIT)
        row = next((line for line in asked["lines"] if line["id"]), {})
        told = row.get("error", "") or asked["told"]
    files = [Path(f).name for f in row.get("read", [])]
    cites = "[" in row.get("answer", "") and FILE in files
    return {"cites": cites, "told": told[:160]} | took(began, before)


def by_command(work: Path, desk: Desk | None) -> dict[str, Any]:
    """Type Ragweave's commands, in the environment that was built for it and a home of its own."""
    home, began = work / "stores" / "ragweave-first", time.perf_counter()
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("RAGWEAVE_", "PYTHONDONTWRITE"))}
    env |= {"RAGWEAVE_HOME": str(home / "home")}
    if desk:
        env |= {
            "RAGWEAVE_CHAT": "openai:desk",
            "RAGWEAVE_CHAT_URL": desk.base_url,
            "RAGWEAVE_CHAT_KEY": "peer",
        }
    command = str(work / "environments" / "ragweave" / "bin" / "ragweave")
    said = ""
    for words in (["index", str(LIBRARY)], ["ask", QUESTION]):
        done = subprocess.run(
            [command, *words], env=env, cwd=home, capture_output=True, text=True, timeout=LIMIT
        )
        said = done.stdout
        if done.returncode:
            break
    told = "" if not done.returncode else (done.stderr or done.stdout).strip()[-160:]
    return {"cites": "[1]" in said and FILE in said, "told": told} | took(began, before)


def main() -> None:
    """Run what is not kept yet."""
    given = options(__doc__)
    for peer in given.peers:
        if peer in SHARED or peer in measured(given.out, "first"):
            continue
        with Desk(0.0) as desk:
            keyed = by_command(given.work, desk) if peer == "ragweave" else by_adapter(peer, given.work, desk)
            keyed["cpu"] += desk.encoding
        bare = by_command(given.work, None) if peer == "ragweave" else by_adapter(peer, given.work, NOBODY)
        keep(given.out, "first", peer, {"key": keyed, "bare": bare, "load": os.getloadavg()[1]})
        print(peer, keyed, bare, flush=True)


if __name__ == "__main__":
    main()
