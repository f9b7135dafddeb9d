"""The words of the page in three languages, with those for the errors of the server, and none that is not used."""

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


def of(language: str) -> dict[str, Any]:
    """Return a catalogue of the page."""
    found: dict[str, Any] = json.loads((STATIC / "lang" / f"{language}.json").read_text(encoding="utf-8"))
    return found


def forms(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value.values())


def slots(value: Any) -> set[str]:
    return {slot for form in forms(value) for slot in re.findall(r"\{(\w+)\}", form)}


@pytest.mark.parametrize("language", ["de", "zh"])
def test_every_language_has_the_keys_and_the_slots_of_english(language: str) -> None:
    english, other = of("en"), of(language)
    # The server writes its errors and notes in English itself.
    of_server = ("error.", "note.", "unused.")
    assert [key for key in other if not key.startswith(of_server) or key in english] == list(english)
    for key, value in english.items():
        assert slots(value) == slots(other[key]) and all(form.strip() for form in forms(other[key])), key


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


def named(module: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Yield the names that a module gives to the sentences of its errors, and the values that go with each."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".named"):
            keys = [n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)]
            if isinstance(node.args[0], ast.Name):  # it is chosen by a condition before
                puts = [
                    n for n in ast.walk(module) if isinstance(n, ast.Constant) and isinstance(n.value, str)
                ]
                keys = [
                    n.value
                    for n in puts
                    if re.fullmatch(
                        r"key_invalid|key_required|session_expired|library_name_unknown|library_not_found",
                        n.value,
                    )
                ]
            for key in keys:
                yield str(key), {word.arg or "" for word in node.keywords}


def test_every_named_sentence_of_an_error_is_in_each_catalogue_with_its_values_and_no_other() -> None:
    given: dict[str, set[str]] = {}
    for room in ("serve", "models", "nodes", "corpora"):
        for path in (ROOT / room).rglob("*.py"):
            for key, values in named(ast.parse(path.read_text(encoding="utf-8"))):
                assert given.setdefault(key, values) == values, (path.name, key)
    assert len(given) > 100  # else nothing is found any more
    for language in ("de", "zh"):
        kept = {
            key.removeprefix("error."): value
            for key, value in of(language).items()
            if key.startswith("error.")
        }
        assert kept.keys() == given.keys()
        for key, value in kept.items():
            assert slots(value) <= given[key], (language, key)
            assert value.endswith((".", "。")), (language, key)
