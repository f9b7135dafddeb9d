"""What the server says of its own is told in the page's language: a table for each but English, with the same keys."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LANG = ROOT / "serve" / "static" / "lang"
TABLES = {name: json.loads((LANG / f"said.{name}.json").read_text(encoding="utf-8")) for name in ("de", "zh")}
ELSEWHERE = {
    "batch.py": "clients of LangServe",
    "chat_request.py": "reads what clients of the OpenAI API send",
    "conversations.py": "ends the start of a server",
    "database.py": "ends the start of a server",
    "langserve.py": "clients of LangServe",
    "mcp.py": "clients of MCP",
    "openai.py": "clients of the OpenAI API",
    "responses.py": "clients of the OpenAI API",
    "studio.py": "beside LangGraph Studio",
    "tools.py": "tools of programs",
    "workers.py": "ends the start of a server",
}
"""Modules of the server that the page does not call, and who does."""
BELOW = (
    *("corpora/archive.py", "corpora/decode.py", "corpora/formats/*.py", "corpora/images/*.py"),
    "corpora/loaders/*.py",
    *("corpora/ingest/readers.py", "corpora/ingest/stages.py", "corpora/store/files.py", "corpora/store/folders.py"),
    *("corpora/store/libraries.py", "corpora/store/locks.py", "corpora/store/temporary.py", "corpora/web/*.py"),
    *("corpora/video/cues.py", "corpora/video/ffmpeg.py", "corpora/video/frames.py", "components/run_context.py"),
    *("models/chat.py", "models/chat_client.py", "models/failures.py", "models/meter.py", "models/pictures.py"),
    "nodes/condense.py",
)
"""What the server calls, and whose refusals a reader of the page meets."""
_COMPOSED = re.compile(
    r"\{0\}: (?:input|string|list) should|.*(?:no space left|permission denied|since \{2\}|hidden part|"
    r"it addresses assistants|the words in)",
    re.I,
)
"""Sentences of pydantic and of the operating system, and those whose parts are joined elsewhere."""
_ERRORS = frozenset(
    "NotFound Refused InputError LibraryError LibraryNotFound StorageError SourceError ModelError ModelTransient "
    "ReplyCut BudgetSpent WebError RagweaveError".split()
)
_SLOT = re.compile(r"\{\d+\}")


def key_of(sentence: str) -> str:
    """Return a sentence as the page looks for it: a title begins with a capital."""
    return sentence[:1].lower() + sentence[1:]


def sentences(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the words of each sentence that the errors of a module are made of, where it holds them."""
    for scope, call in _calls(module, module):
        for given in call.args:
            for said in _words(given, scope, module):
                if " " in said and re.search(r"[a-z]{3}", said):
                    yield call.lineno, said.rstrip(".")


def _calls(node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.AST, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        if isinstance(child, ast.Call) and (
            _name(child.func) in _ERRORS or ast.unparse(child.func) == "super().__init__"
        ):
            yield scope, child
        yield from _calls(child, inner)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _words(node: ast.AST, scope: ast.AST, module: ast.Module) -> Iterator[str]:
    """Yield what an argument may say; of a name, what the function or the module puts into it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        slots = iter(range(len(node.values)))
        yield "".join(str(p.value) if isinstance(p, ast.Constant) else f"{{{next(slots)}}}" for p in node.values)
    elif isinstance(node, ast.IfExp):
        yield from _words(node.body, scope, module)
        yield from _words(node.orelse, scope, module)
    elif isinstance(node, ast.Starred):
        yield from _words(node.value, scope, module)
    elif isinstance(node, ast.Tuple):
        for one in node.elts:
            yield from _words(one, scope, module)
    elif isinstance(node, ast.Name):
        within = [a for a in ast.walk(scope) if isinstance(a, ast.Assign)]
        for put in within if any(_puts(a, node.id) for a in within) else module.body:
            if isinstance(put, ast.Assign) and _puts(put, node.id):
                yield from _words(put.value, scope, module)


def _puts(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def files() -> list[Path]:
    own = [path for path in sorted((ROOT / "serve").glob("*.py")) if path.name not in ELSEWHERE]
    return [*own, *(path for pattern in BELOW for path in sorted(ROOT.glob(pattern)))]


def test_every_sentence_that_a_reader_of_the_page_meets_is_told_in_each_language() -> None:
    known = {key_of(english) for english in TABLES["de"]}
    found = [
        (f"{path.relative_to(ROOT)}:{line}", said)
        for path in files()
        for line, said in sentences(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) > 150  # else nothing is found any more
    assert [(at, said) for at, said in found if key_of(said) not in known] == []


def test_modules_that_are_left_out_are_there() -> None:
    assert [name for name in ELSEWHERE if not (ROOT / "serve" / name).is_file()] == []
    assert [pattern for pattern in BELOW if not list(ROOT.glob(pattern))] == []


@pytest.mark.parametrize("language", sorted(TABLES))
def test_each_language_has_the_same_sentences_with_the_same_slots(language: str) -> None:
    table = TABLES[language]
    assert list(table) == list(TABLES["de"])
    assert len({key_of(english) for english in table}) == len(table)
    for english, own in table.items():
        slots = sorted(_SLOT.findall(english))
        assert slots == [f"{{{n}}}" for n in range(len(slots))] == sorted(_SLOT.findall(own)), english
        assert own.strip() and not re.search(r"[^.]\.$|。$", own), english


def test_no_sentence_is_told_that_nothing_says() -> None:
    own = [path for path in ROOT.rglob("*.py") if not {"tests", ".venv"} & set(path.relative_to(ROOT).parts)]
    nodes = (node for path in own for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    said = "\0".join(n.value.lower() for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
    longest = {english: max(_SLOT.split(english), key=len).strip().lower() for english in TABLES["de"]}
    assert [e for e, part in longest.items() if part not in said and not _COMPOSED.match(e)] == []
