"""The words of the page in three languages, those of the server that it shows, and nothing in it that is not used."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.run import GRAPHS
from ragweave.nodes.steps import STEPS

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "serve" / "static"
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|/\*.*?\*/|//[^\n]*', re.S)
CODE = {
    path.name: _COMMENT.sub(r"\1", path.read_text("utf-8")) for path in sorted((STATIC / "js").glob("*.js"))
}
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
_SHOWN = re.compile(
    r'(?:\b(?:text|title|placeholder|alt)|"aria-label"): (?:"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)'
)
_NO_WORDS = re.compile(
    r"ragweave keys create NAME --all|ragweave setup|Ragweave|rw_…|"
    r"(?:(?:threads|thread|running|settings|libraries|library|sources)(?: |$))+"
)
"""Literals that are no words for people: a command, a name, names of events."""


def of(language: str, said: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (STATIC / "lang" / f"{said}{language}.json").read_text(encoding="utf-8")
    )
    return found


def forms(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value.values())


def slots(value: Any) -> set[str]:
    return {slot for form in forms(value) for slot in re.findall(r"\{(\w+)\}", form)}


@pytest.mark.parametrize("language", ["de", "zh"])
def test_every_language_has_the_keys_and_the_slots_of_english_and_the_same_sentences_of_the_server(
    language: str,
) -> None:
    english, other, table = of("en"), of(language), of(language, "said.")
    assert list(other) == list(english) and list(table) == list(of("de", "said."))
    for key, value in english.items():
        assert slots(value) == slots(other[key]) and all(form.strip() for form in forms(other[key])), key
    for told, own in table.items():
        assert slots(told) == slots(own) == {str(n) for n in range(len(slots(told)))}, told
        assert own.strip() and not re.search(r"[^.]\.$|。$", own), told


def test_every_key_that_a_script_names_has_words_and_all_words_are_named_by_a_script() -> None:
    keys, code = set(of("en")), "\n".join(CODE.values())
    named = set(re.findall(r'\b(?:t|known)\("([^"]+)"', code))
    assert named - keys == set()
    # Keys that are put together, such as `step.${id}.name`, and those chosen by a condition, stand as
    # literals.
    literal = set(re.findall(r'"([a-z][\w.]*)"', code))
    joined = [
        re.sub(r"\\\$\\\{[^}]*\\\}", r"[\\w.]+", re.escape(k))
        for k in re.findall(r"\b(?:t|known)\(`([^`]+)`", code)
    ]
    assert {
        k for k in keys - named - literal if not any(re.fullmatch(pattern, k) for pattern in joined)
    } == set()


def literals(script: str, pattern: re.Pattern[str]) -> list[str]:
    """Return what the string literals of a script say, without what is put into them."""
    found = [match[1] if match[1] is not None else match[2] for match in pattern.finditer(script)]
    found = [re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "\0", said) for said in found]
    return [said for said in found if not _NO_WORDS.fullmatch(said.strip())]


def test_no_words_for_people_are_left_in_a_script() -> None:
    for name in set(CODE) - {"i18n.js", "icons.js"}:
        shown = [said for said in literals(CODE[name], _SHOWN) if re.search(r"[^\W\d_]", said)]
        sentences = [s for s in literals(CODE[name], _LITERAL) if re.search(r"\b[a-z]+ [a-z]+\b", s, re.I)]
        markup = r"<code|\(min-|\(max-|\(prefers|\(pointer|noopener|^\.\./|=\"|^[\w-]+(?:\.[\w-]+)+ |^[.#\[]"
        assert shown + [s for s in sentences if not re.search(markup, s)] == [], name


def test_words_of_methods_and_steps_are_those_of_the_code() -> None:
    docs = {
        name: str(import_module(module).__doc__).strip().split("\n")[0] for name, module in GRAPHS.items()
    }
    methods = {f"method.{name}": told for name, told in docs.items()}
    wanted = dict(methods)
    for id, step in STEPS.items():
        wanted |= {f"step.{id}": step.words, f"step.{id}.next": step.next}
    shown = {k: v for k, v in of("en").items() if k.startswith(("method.", "step."))}
    # A step without words of the page is shown in those of the code.
    assert methods.items() <= shown.items() <= wanted.items()


def words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text)


ELSEWHERE = frozenset(
    "attached batch chat_request conversations database langserve mcp openai responses studio tools workers".split()
)
"""Modules of the server that the page does not call: they serve other programs, or end its start."""
BELOW = [
    *(
        "corpora/archive.py",
        "corpora/decode.py",
        "corpora/formats/*.py",
        "corpora/images/*.py",
        "corpora/loaders/*.py",
    ),
    *(
        "corpora/ingest/readers.py",
        "corpora/ingest/stages.py",
        "corpora/store/files.py",
        "corpora/store/folders.py",
    ),
    *(
        "corpora/store/libraries.py",
        "corpora/store/locks.py",
        "corpora/store/temporary.py",
        "corpora/web/*.py",
    ),
    *(
        "corpora/video/cues.py",
        "corpora/video/ffmpeg.py",
        "corpora/video/frames.py",
        "components/run_context.py",
    ),
    *(
        "models/chat.py",
        "models/chat_client.py",
        "models/failures.py",
        "models/meter.py",
        "models/pictures.py",
    ),
    *("models/listing.py", "models/offered.py"),
    "nodes/condense.py",
]
"""What the server calls, and whose refusals a reader of the page meets."""
_COMPOSED = re.compile(
    r"\{0\}: (?:input|string|list) should|.*(?:no space left|permission denied|since \{2\}|hidden part|"
    r"orders to assistants|the words in)",
    re.I,
)
"""Sentences of pydantic and of the operating system, and those whose parts are joined elsewhere."""
_ERRORS = frozenset(
    "NotFound Refused InputError LibraryError LibraryNotFound StorageError SourceError ModelError"
    " ModelTransient NoListError ReplyCut BudgetSpent WebError RagweaveError".split()
)


def sentences(module: ast.Module) -> Iterator[str]:
    """Yield the sentences that the errors of a module are made of, where it holds them."""
    for scope, call in _calls(module, module):
        for given in call.args:
            for said in _said(given, scope, module):
                if " " in said and re.search(r"[a-z]{3}", said):
                    yield said.rstrip(".")


def _calls(node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.AST, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        if isinstance(child, ast.Call):
            called = ast.unparse(child.func)
            if called.split(".")[-1] in _ERRORS or called == "super().__init__":
                yield scope, child
        yield from _calls(child, inner)


def _said(node: ast.AST, scope: ast.AST, module: ast.Module) -> Iterator[str]:
    """Yield what an argument may say; of a name, what the function or the module puts into it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        numbers = iter(range(len(node.values)))
        yield "".join(
            str(p.value) if isinstance(p, ast.Constant) else f"{{{next(numbers)}}}" for p in node.values
        )
    elif isinstance(node, ast.IfExp | ast.Starred | ast.Tuple):
        parts = [getattr(node, name) for name in ("body", "orelse", "value") if hasattr(node, name)]
        for one in getattr(node, "elts", None) or parts:
            yield from _said(one, scope, module)
    elif isinstance(node, ast.Name):
        puts = [
            a for a in ast.walk(scope) if isinstance(a, ast.Assign) and ast.unparse(a.targets[0]) == node.id
        ]
        for put in puts or [a for a in module.body if isinstance(a, ast.Assign)]:
            if ast.unparse(put.targets[0]) == node.id:
                yield from _said(put.value, scope, module)


def test_every_sentence_of_the_server_that_the_page_shows_is_told_in_each_language_and_no_other() -> None:
    known = {english[:1].lower() + english[1:] for english in of("de", "said.")}
    own = [path for path in (ROOT / "serve").glob("*.py") if path.stem not in ELSEWHERE]
    files = [*own, *(path for pattern in BELOW for path in ROOT.glob(pattern))]
    found = [
        (path.name, said) for path in files for said in sentences(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) > 150  # else nothing is found any more
    assert [(at, said) for at, said in found if said[:1].lower() + said[1:] not in known] == []
    every = [
        path for path in ROOT.rglob("*.py") if not {"tests", ".venv"} & set(path.relative_to(ROOT).parts)
    ]
    nodes = (node for path in every for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    told = "\0".join(
        n.value.lower() for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)
    )
    longest = {one: max(re.split(r"\{\d+\}", one), key=len).strip().lower() for one in of("de", "said.")}
    assert [e for e, part in longest.items() if part not in told and not _COMPOSED.match(e)] == []
