"""The house keeps its walls: imports run one way, tables match folders, nothing heavy at the door."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("app", "serve", "evals", "graphs", "nodes", "components", "prompts", "corpora", "models")
SHIPPED = tuple(r for r in ROOMS if r != "evals")
BELOW = {
    "app": set(ROOMS) - {"evals"},
    "serve": {"serve", "graphs", "nodes", "components", "prompts", "corpora", "models"},
    "evals": {"evals", "graphs", "nodes", "components", "prompts", "corpora", "models"},
    "graphs": {"graphs", "nodes", "components", "prompts", "corpora", "models"},
    "nodes": {"nodes", "components", "prompts", "corpora", "models"},
    "components": {"components", "prompts", "corpora", "models"},
    "prompts": {"prompts", "models"},
    "corpora": {"corpora", "models"},
    "models": {"models"},
}
"""What each room may import."""
LONGEST = 400

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted(p for room in ROOMS for p in (ROOT / room).rglob("*.py"))


def room_of(module: str) -> str:
    """Return the room of a `ragweave...` module; the root itself is open to all."""
    return module.split(".")[1] if "." in module else ""


@cache
def imported(path: Path) -> set[str]:
    """Return every ragweave module that a file imports, inside functions as well."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            # `from ragweave import x` may name a room.
            found |= (
                {f"{node.module}.{a.name}" for a in node.names}
                if node.module == "ragweave"
                else {str(node.module)}
            )
    return {m for m in found if m.split(".")[0] == "ragweave"}


def test_a_file_imports_only_its_own_room_and_those_below() -> None:
    wrong = []
    for path in SOURCES:
        allowed = BELOW[path.relative_to(ROOT).parts[0]] | {"", "__version__"}
        wrong += [
            f"{path.relative_to(ROOT)} imports {m}"
            for m in sorted(imported(path))
            if room_of(m) not in allowed
        ]
    assert wrong == []


INSIDE = {
    "store": set(),
    "formats": {"store"},
    "images": {"store"},
    "video": {"store"},
    "knowledge": {"store"},
    "web": {"formats", "store"},
    "loaders": {"formats"},
    "tables": {"store"},
    "ingest": {"store", "formats", "images", "video", "knowledge", "loaders", "tables"},
}
"""What a sub-folder of corpora may import beside itself and the modules at the root of corpora, which import none."""


def test_a_part_of_corpora_imports_only_what_lies_below_it() -> None:
    wrong = []
    for path in (ROOT / "corpora").rglob("*.py"):
        *folder, _ = path.relative_to(ROOT / "corpora").parts
        allowed = INSIDE[folder[0]] | {folder[0]} if folder else set()
        found = {m.split(".")[2] for m in imported(path) if m.startswith("ragweave.corpora.")}
        wrong += [
            f"{path.relative_to(ROOT)} imports {name}" for name in sorted(found & set(INSIDE) - allowed)
        ]
    assert wrong == []


def test_nodes_leave_to_the_components_who_decides() -> None:
    """A node that imports a strategy would pass over the choice of the run, and the note if it fails."""
    strategies = {"locally", "by_model", "by_checkpoint", "by_head", "first_of"}
    wrong = []
    for path in (ROOT / "nodes").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ragweave.components"):
                wrong += [f"{path.name} imports {a.name}" for a in node.names if a.name in strategies]
    assert wrong == []


def test_a_file_is_short_enough_to_read() -> None:
    lines = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES}
    assert {path: count for path, count in lines.items() if count > LONGEST} == {}


def package_folders() -> dict[str, str]:
    """Return the folder of every package, as the tree has them."""
    inits = [i for room in ROOMS for i in (ROOT / room).rglob("__init__.py")]
    folders = [i.parent.relative_to(ROOT) for i in inits]
    return {".".join(("ragweave", *f.parts)): str(f) for f in folders}


def test_the_list_of_pyproject_names_every_package_and_no_other() -> None:
    tables = PROJECT["tool"]["setuptools"]
    shipped = [p for p in package_folders() if room_of(p) in SHIPPED]
    assert sorted(tables["packages"]) == sorted(["ragweave", *shipped])
    assert tables["package-dir"] == {"ragweave": "."}


def test_every_folder_with_python_files_is_a_package() -> None:
    packages = {str(ROOT / folder) for folder in package_folders().values()}
    assert {str(p.parent) for p in SOURCES} <= packages


def test_the_wheel_holds_every_file_of_the_rooms(tmp_path: Path) -> None:
    """Built by the backend itself, without isolation, so that no network is needed."""
    code = (
        "import sys, setuptools.build_meta as b; print(b.build_wheel(sys.argv[1], {'--build-option':"
        " ['--quiet']}))"
    )
    copy = tmp_path / "tree"
    copy.mkdir()
    tracked = [
        *(p for p in SOURCES if p.relative_to(ROOT).parts[0] in SHIPPED),
        *(ROOT / "prompts").glob("*.md"),
        *(p for p in (ROOT / "models" / "heads").iterdir() if p.is_file()),
        *(p for p in (ROOT / "serve" / "static").rglob("*") if p.is_file()),
    ]
    tracked += [
        ROOT / n
        for n in (
            "pyproject.toml",
            "README.md",
            "LICENSE",
            "THIRD_PARTY.md",
            "__init__.py",
            "__main__.py",
            "py.typed",
        )
    ]
    for path in tracked:
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=copy, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = {n for n in zipfile.ZipFile(wheel).namelist() if not n.split("/")[0].endswith(".dist-info")}
    expected = set()
    for path in tracked:
        parts = path.relative_to(ROOT).parts
        if len(parts) > 1 or path.suffix in {".py", ".typed"}:
            expected.add("/".join(("ragweave", *parts)))
    assert names == expected


def test_importing_ragweave_and_its_command_line_loads_nothing_heavy() -> None:
    code = "import json, sys, ragweave, ragweave.app.cli; print(json.dumps(sorted(sys.modules)))"
    loaded = set(
        json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    )
    heavy = {
        "chromadb", "langgraph", "langchain", "langchain_core", "langchain_openai", "numpy", "openai", "pydantic",
        "pydantic_settings", "sqlalchemy", "wordllama", "trafilatura", "docx", "pypdfium2", "torch", "httpx",
        "fastapi", "uvicorn", "mcp",
    }  # fmt: skip
    assert not loaded & heavy


def test_a_question_loads_no_package_that_it_does_not_use(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Mill\n\nThe mill was built in 1862.\n", encoding="utf-8")
    env = {**os.environ, "RAGWEAVE_HOME": str(tmp_path / "home")}
    code = (
        "import sys; from ragweave.app import cli; cli.main(sys.argv[1:]); "
        "print(*{m.split('.')[0] for m in sys.modules}, file=sys.stderr)"
    )
    for given in (["index", str(tmp_path)], ["ask", "When was the mill built?", "--mode", "extractive"]):
        run = subprocess.run(
            [sys.executable, "-c", code, *given], env=env, capture_output=True, text=True, check=True
        )
    unused = {
        "chromadb", "docutils", "fastapi", "huggingface_hub", "langchain", "langchain_community", "langchain_openai",
        "lxml", "markdown_it", "mcp", "moviepy", "networkx", "odfdo", "openai", "openpyxl", "pathspec", "pptx",
        "pypdfium2", "striprtf", "tavily", "torch", "transformers", "uvicorn",
    }  # fmt: skip
    assert "1862" in run.stdout and not unused & set(run.stderr.splitlines()[-1].split())


def test_a_server_loads_no_door_before_somebody_comes_by_it(tmp_path: Path) -> None:
    code = "import sys; from ragweave.serve.app import create_app; create_app(); print(*sys.modules)"
    env = {**os.environ, "RAGWEAVE_HOME": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    late = {"chromadb", "cryptography", "langchain", "langserve", "mcp", "mcp_types", "openai"}
    assert not late & set(run.stdout.split())


@pytest.mark.parametrize("given", [["--version"], ["no-such-command"]])
def test_the_package_is_run_as_the_command_is(given: list[str]) -> None:
    ways = (["-m", "ragweave", *given], ["-m", "ragweave.app.cli", *given])
    one, other = (subprocess.run([sys.executable, *way], capture_output=True, text=True) for way in ways)
    assert (one.returncode, one.stdout, one.stderr.splitlines()[2:]) == (
        other.returncode, other.stdout, other.stderr.splitlines()[2:],
    )  # fmt: skip
    assert one.returncode == (0 if given == ["--version"] else 2)


@pytest.mark.parametrize(
    "name", ["Answer", "Context", "RagweaveError", "ask", "aask", "index", "aindex", "build_agent"]
)
def test_the_public_names_are_there(name: str) -> None:
    assert getattr(import_module("ragweave"), name) is not None


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        getattr(import_module("ragweave"), "nothing_like_it")  # noqa: B009 - a name mypy cannot know


def test_langgraph_json_names_graphs_that_are_compiled_bare() -> None:
    from ragweave.app.api import GRAPHS

    graphs = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert set(graphs) == set(GRAPHS)
    for name, entry in graphs.items():
        module, attribute = entry["path"].split(":")
        compiled = getattr(import_module(module), attribute)
        assert compiled.name == name
        assert compiled.checkpointer is None and compiled.store is None
        assert hasattr(import_module(module), "build")


def test_every_file_that_the_page_of_the_house_names_is_there_and_no_change_needs_more_than_four() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.\w+)?|langgraph\.json)`", page))
    assert len(named) > 30
    assert not [name for name in named if not (ROOT / name).exists()]
    rows = [
        line for line in page.split("## To change")[1].split("##")[0].splitlines() if line.startswith("| ")
    ]
    assert all(len(re.findall(r"`[^`]+`", row)) <= 4 for row in rows)


def test_no_two_public_classes_share_a_name() -> None:
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in found.items() if len(files) > 1} == {}
