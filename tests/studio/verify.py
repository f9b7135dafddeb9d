"""Loads every graph of langgraph.json as the LangGraph API server does: `make verify-graphs`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Run `langgraph-verify-graphs` with what `langgraph dev` would set."""
    graphs = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    environment = {
        "LANGSERVE_GRAPHS": json.dumps(graphs),
        "DATABASE_URI": ":memory:",
        "REDIS_URI": "fake",
        "MIGRATIONS_PATH": "__inmem",
        "LANGGRAPH_RUNTIME_EDITION": "inmem",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
    }
    command = [str(Path(sys.executable).with_name("langgraph-verify-graphs"))]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
