"""The words of the page: three languages with the same keys, all of them used, and no words left in its scripts."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.run import GRAPHS
from ragweave.graphs.steps import STEPS

STATIC = Path(__file__).resolve().parents[2] / "serve" / "static"
LANGUAGES = ("en", "de", "zh")
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in sorted((STATIC / "js").glob("*.js"))}
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)|/\*.*?\*/|//[^\n]*', re.S)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
_SHOWN = re.compile(r'(?:\b(?:text|title|placeholder|alt)|"aria-label"): (?:"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)')
_NO_WORDS = re.compile(
    r"ragweave keys create|ragweave setup|Ragweave|rw_…|"
    r"(?:(?:threads|thread|running|settings|libraries|library|sources)(?: |$))+"
)
"""Literals that are no words for people: a command, a name, names of events."""


def words(language: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((STATIC / "lang" / f"{language}.json").read_text(encoding="utf-8"))
    return found


def forms(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value.values())


def slots(value: Any) -> set[str]:
    return {slot for form in forms(value) for slot in re.findall(r"\{(\w+)\}", form)}


def literals(script: str, pattern: re.Pattern[str]) -> list[str]:
    """Return what the string literals of a script say, without what is put into them."""
    found = []
    for match in pattern.finditer(_COMMENT.sub(r"\1", script)):
        said = match[1] if match[1] is not None else match[2]
        found.append(re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "\0", said))
    return [said for said in found if not _NO_WORDS.fullmatch(said.strip())]


@pytest.mark.parametrize("language", ["de", "zh"])
def test_every_language_has_the_keys_and_the_slots_of_english(language: str) -> None:
    english, other = words("en"), words(language)
    assert list(other) == list(english)
    for key, value in english.items():
        assert slots(value) == slots(other[key]), key
        assert all(form.strip() for form in forms(other[key])), key


def test_every_key_that_a_script_names_has_words_and_all_words_are_named_by_a_script() -> None:
    keys, code = set(words("en")), "\n".join(_COMMENT.sub(r"\1", script) for script in SCRIPTS.values())
    named = set(re.findall(r'\b(?:t|known)\("([^"]+)"', code))
    assert named - keys == set()
    # Keys that are put together, such as `step.${id}.name`, and those chosen by a condition, stand as literals.
    literal = set(re.findall(r'"([a-z][\w.]*)"', code))
    joined = [
        re.sub(r"\\\$\\\{[^}]*\\\}", r"[\\w.]+", re.escape(k)) for k in re.findall(r"\b(?:t|known)\(`([^`]+)`", code)
    ]
    unused = {k for k in keys - named - literal if not any(re.fullmatch(pattern, k) for pattern in joined)}
    assert unused == set()


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - {"i18n.js", "icons.js"}))
def test_no_words_for_people_are_left_in_a_script(name: str) -> None:
    shown = [said for said in literals(SCRIPTS[name], _SHOWN) if re.search(r"[^\W\d_]", said)]
    sentences = [s for s in literals(SCRIPTS[name], _LITERAL) if re.search(r"\b[a-z]+ [a-z]+\b", s, re.I)]
    markup = [s for s in sentences if not re.search(r"<code|\(min-|\(max-|\(prefers|\(pointer|noopener|^\.\./|=\"", s)]
    assert shown + [s for s in markup if not re.match(r"[\w-]+(?:\.[\w-]+)+ |[.#\[]", s)] == []


def test_a_method_is_told_as_its_module_tells_it() -> None:
    told = {k: v for k, v in words("en").items() if k.startswith("method.")}
    assert told == {
        f"method.{name}": str(import_module(module).__doc__).strip().split("\n")[0] for name, module in GRAPHS.items()
    }


def test_the_words_of_a_step_are_those_of_the_trail_elsewhere() -> None:
    told = {k: v for k, v in words("en").items() if k.startswith("step.")}
    wanted: dict[str, str] = {}
    for id, step in STEPS.items():
        wanted[f"step.{id}"], wanted[f"step.{id}.next"] = step.words, step.next
        if step.name:
            wanted[f"step.{id}.name"] = step.name
    assert told == wanted
