"""Each kept reply of a model is read right, in whatever parts it arrives (benchmarks/replies.py)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.components.prose import complete_sentences, split
from ragweave.models.thoughts import ThoughtReader, answer_in

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
KINDS = ("thoughts", "citations", "debris", "labels", "text", "json")


def program() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("replies_program", FOLDER / "replies.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


REPLIES = program()
TEXTS = []
for kept in REPLIES.cases(""):
    if kept["kind"] != "json":
        filled = kept["reply"].replace("§THOUGHT§", REPLIES.THOUGHT)
        TEXTS.append(filled.replace("§ANSWER§", f"{REPLIES.ANSWER} It is still lit [2]."))


@pytest.mark.parametrize("kind", KINDS)
async def test_the_replies_of_a_kind_are_read_right(kind: str) -> None:
    wrong = []
    for case in REPLIES.cases(kind):
        found = await REPLIES.wrong(case)
        if found:
            wrong.append(f"{case['name']}: {found}")
    assert wrong == []


async def sentences_of(parts: list[str]) -> list[str]:
    async def arriving():  # type: ignore[no-untyped-def]
        for part in parts:
            yield part

    return [sentence async for sentence in complete_sentences(arriving())]


@settings(max_examples=60)
@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 400), max_size=12))
async def test_no_split_of_a_reply_changes_its_answer_or_its_sentences(reply: str, cuts: list[int]) -> None:
    ends = sorted({min(cut, len(reply)) for cut in cuts} | {len(reply)})
    parts, since = [], 0
    for end in ends:
        parts.append(reply[since:end])
        since = end
    reader = ThoughtReader()
    for part in parts:
        reader.add(part)
    answer = answer_in(reply)
    assert reader.rest().strip() == answer
    since, cut_answer = 0, []
    for end in sorted({min(cut, len(answer)) for cut in cuts} | {len(answer)}):
        cut_answer.append(answer[since:end])
        since = end
    assert await sentences_of(cut_answer) == split(answer)
