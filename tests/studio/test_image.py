"""What `langgraph build` makes an image of: it has what is imported, and its server brings what keeps the threads."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from ragweave.nodes.state import SAVED

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIG = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
GRAPHS: dict[str, str] = {name: spec["path"] for name, spec in CONFIG["graphs"].items()}


@pytest.fixture
def dockerfile(tmp_path: Path) -> str:
    """The file that the command prints, which needs no engine."""
    pytest.importorskip("langgraph_cli", reason="the extra `studio` is not installed")
    into = tmp_path / "Dockerfile"
    line = [
        sys.executable,
        "-m",
        "langgraph_cli",
        "dockerfile",
        "-c",
        str(ROOT / "langgraph.json"),
        str(into),
    ]
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
    done = subprocess.run(line, env={**os.environ, **quiet}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return into.read_text(encoding="utf-8")


def test_the_image_is_told_the_graphs_and_routes_and_installs_all_that_they_import(dockerfile: str) -> None:
    told = {name: json.loads(value) for name, value in re.findall(r"^ENV (\w+)='(.*)'$", dockerfile, re.M)}
    assert {name: spec["path"] for name, spec in told["LANGSERVE_GRAPHS"].items()} == GRAPHS
    app = told["LANGGRAPH_HTTP"]["app"]
    read_back = told["LANGGRAPH_CHECKPOINTER"]["serde"]["allowed_msgpack_modules"]
    assert read_back == [[kind.__module__, kind.__name__] for kind in SAVED]
    extras = tuple(re.findall(r"--extra (\w+)", dockerfile))
    assert dockerfile.index("--extra") < dockerfile.index("ADD . /deps/"), (
        "the package comes last, over what it needs"
    )
    wanted = [where.partition(":")[0] for where in (app, *GRAPHS.values())]
    code = f"import sys; import {', '.join(wanted)}; print(*{{m.partition('.')[0] for m in sys.modules}})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert lacking(loaded, extras) == set()
    assert "fastapi" in lacking(loaded, tuple(set(extras) - {"serve"})), (
        "and without the extra it would be missed"
    )


def lacking(modules: list[str], extras: tuple[str, ...]) -> set[str]:
    """Return the packages that modules come from, but for those of Ragweave with these extras and of the server."""
    spec = importlib.util.spec_from_file_location("inventory", ROOT / ".ci" / "inventory.py")
    assert spec is not None and spec.loader is not None
    inventory = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(inventory)
    there = {inventory.named(d.metadata["Name"]) for d in inventory.installed(extras)} | {"ragweave"}
    owners = metadata.packages_distributions()
    return {inventory.named(owners[m][0]) for m in modules if m in owners} - there - {"setuptools"}
