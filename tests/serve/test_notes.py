"""Each note of the code has a key, by which the page shows it in the language of its reader."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ragweave.components import chat_messages, check, marking, phrases, prose
from ragweave.components.phrases import FEW, QUOTED, SET_UP
from ragweave.serve import chat_parts, chat_request
from ragweave.serve.notes import ITEMS, NOTES, coded, with_key
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import ask_over_http

ROOT = Path(__file__).resolve().parents[2]
_NAMED = {
    "QUOTED if": QUOTED,
    "WITHHELD": phrases.WITHHELD.format(n=2),
    "UNCHECKED": phrases.UNCHECKED,
}


def sample(node: ast.expr) -> str:
    """Return the text of an expression, with a word for each value in it."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(sample(part) for part in node.values)
    return "value"


def written() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each note that the code writes."""
    for room in ("components", "nodes", "models", "serve"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    not isinstance(node, ast.Call)
                    or not isinstance(node.func, ast.Attribute)
                    or not node.args
                ):
                    continue
                target, name = ast.unparse(node.func.value), node.func.attr
                is_note = name == "note" and target in ("run", "self")
                is_note |= (
                    name == "append" and re.fullmatch(r"(?:\w+\.)*(?:notes|unread)", target) is not None
                )
                is_note |= name == "tell" and target.endswith("meter")
                if is_note:
                    yield f"{path.name}:{node.lineno}", _text(node.args[-1])


def _text(node: ast.expr) -> str:
    source = ast.unparse(node)
    for start, text in _NAMED.items():
        if source.startswith(start):
            return text
    return sample(node) if isinstance(node, ast.Constant | ast.JoinedStr) else f"-> {source}"


def test_each_note_in_the_code_has_a_key() -> None:
    missing, found = [], 0
    for place, text in written():
        if text.startswith("-> "):
            continue
        found += 1
        own = coded(text.replace("this libraryvalue", "this library; it holds value"))
        if not own["key"]:
            missing.append((place, text))
    named = [check.FAILED, check.UNREAD, marking.DOWN, marking.FAILED, prose.LEFT, phrases.UNCHECKED, QUOTED]
    missing += [("", text) for text in (*named, f"{QUOTED} {SET_UP}") if not coded(text)["key"]]
    # Notes of tables go into prompts; the window of a model is named in a function of its own.
    assert [row for row in missing if not row[0].startswith(("table_query.py", "tables.py"))] == []
    assert found > 30


def test_what_is_not_used_is_named_by_keys_and_counted() -> None:
    descriptions = {
        *chat_parts._UNREAD_PARTS.values(),
        *chat_messages._UNREAD_MEMBERS.values(),
        *chat_request._UNREAD_ROLES.values(),
        chat_request._AFTER_QUESTION,
    }
    assert descriptions <= set(ITEMS.values())
    note = "Not used of what was sent: a call of a tool (2 times), a picture after the first 4, a unicorn."
    items = coded(note)["values"]["items"]
    assert [(item["key"], item["n"]) for item in items] == [("tool_call", 2), ("pictures_over", 1), ("", 1)]
    assert items[1]["values"] == {"most": "4"} and items[2]["text"] == "a unicorn"


@pytest.mark.parametrize("language", ["de", "zh"])
def test_each_key_has_words_with_the_same_values_in_each_language(language: str) -> None:
    file = ROOT / "serve" / "static" / "lang" / f"{language}.json"
    catalogue = json.loads(file.read_text(encoding="utf-8"))
    for kind, forms in (("note", NOTES), ("unused", ITEMS)):
        for key, form in forms.items():
            if key in ("quoted", "quoted_set_up"):  # said above the quotes
                continue
            assert set(re.findall(r"{(\w+)}", catalogue[f"{kind}.{key}"])) == set(
                re.findall(r"{(\w+)}", form)
            ), key


async def test_the_page_gets_the_kinds_of_notes_while_a_run_goes_on_and_later(
    client: httpx.AsyncClient,
) -> None:
    events = await ask_over_http(client, QUESTION)
    note = next(event for event in events if event["type"] == "note")
    assert note["key"] == "quoted_set_up" and note["text"].startswith("No language model")
    answer = next(event["answer"] for event in events if event["type"] == "answer")
    assert [kind["text"] for kind in answer["note_kinds"]] == answer["notes"]
    thread = (await client.get(f"/api/threads/{events[0]['thread']}")).json()
    assert thread["turns"][0]["answer"]["note_kinds"] == answer["note_kinds"]
    assert with_key({"text": FEW})["key"] == "few" and "key" not in with_key({"text": "It is lit."})
