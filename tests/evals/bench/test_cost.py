"""What a table is said to take at most is never passed, however greedy a model is and however much is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.evals.bench.cost import most
from ragweave.evals.bench.forms import read
from ragweave.evals.bench.run import BenchSet, ask, context_of, prepared
from ragweave.evals.bench.tables import PAPERS, paper
from ragweave.evals.judge import ASPECTS
from ragweave.evals.runner import Runner
from ragweave.models.chat import override
from ragweave.models.chat_reply import IMAGE_TOKENS, tokens_of
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.frames import add_frames

QUESTION = (
    "What did the mill of Leigo make, who owned it, and what burnt it down in the end, as far as it is known?"
)
WORDS = "The mill of Leigo made paper for its owner Ilse Marwen and was burnt down by lightning in the end. "


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixteen passages as long as one can be, a recording of half an hour, and pages of a web."""
    mills = [
        {"id": f"m{n}", "title": f"Mill {n}", "text": f"In the year {1700 + n}. " + WORDS * 19}
        for n in range(16)
    ]
    asked = {"id": "1", "question": QUESTION, "answers": ["paper"], "gold": ["m1"]}
    spoken = [
        f"{n // 12:02}:{n * 5 % 60:02}.000 --> {(n + 1) // 12:02}:{(n + 1) * 5 % 60:02}.000\n{n}. {WORDS}\n"
        for n in range(360)
    ]
    for name, files in {
        "mills": {"queries.jsonl": [asked], "passages.jsonl": mills},
        "talks": {"queries.jsonl": [asked], "talk.vtt": ["WEBVTT\n", *spoken]},
        "web": {f"{n}.md": [f"# Leigo {n}\n\n{WORDS * 19}"] for n in range(5)},
    }.items():
        (tmp_path / name).mkdir()
        for file, rows in files.items():
            lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
            (tmp_path / name / file).write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path / "web"))
    return tmp_path


class Greedy(ScriptedChat):
    """Wants another search in every turn, and asks for the same one first."""

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self.react = self._say

    def _say(self, messages: list[Any]) -> Any:
        said, n = "\n".join(str(m.content) for m in messages), len(self.calls)
        if "Final Answer" in said:
            if n % 2:
                return (
                    f"Learnt: {WORDS * 6}\nMissing: {WORDS * 6}\nQuery: mill {n} of Leigo\nQuery: owner {n}"
                    " of Leigo"
                )
            return f"Query: {QUESTION}"
        for sign, reply in {
            "prepare the search": {
                "statement": QUESTION,
                "scene": "a mill",
                "keywords": ["mill", "lightning"],
            },
            "exactly one word out of": "paragraph",
            "judge whether passages": {"verdicts": [{"n": n, "verdict": "partly"} for n in range(1, 41)]},
            "write search queries": {"queries": [f"owner {n} of the mill of Leigo" for n in range(8)]},
            "multiple search queries": "\n".join(f"owner {n} of the mill of Leigo" for n in range(8)),
            "whether a clip": "yes",
            "density": {a: {"winner": "1", "reason": ""} for a in ASPECTS},
        }.items():
            if sign in said:
                return reply
        return WORDS * 20

    def taken(self) -> tuple[int, int]:
        """Return its calls, and the tokens and pictures of their prompts."""
        parts = [p for c in self.calls for m in c.messages for p in m.content if isinstance(p, dict)]
        pictures = sum(p.get("type") == "image_url" for p in parts)
        return len(self.calls), sum(tokens_of(c.prompt) for c in self.calls) + IMAGE_TOKENS * pictures


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((p, "mills") for p in PAPERS if p != "video-rag"), ("universal-rag", "talks"), ("video-rag", "talks")],
)
async def test_no_arm_takes_more_than_was_said_before(name: str, kind: str, folder: Path) -> None:
    of = paper(name)
    table = next(iter(of.tables.values()))
    asked = BenchSet(table.other.model_copy(update={"name": kind}), read(kind, folder / kind))
    (asked,) = await prepared(of, [asked], folder / "w")
    assert kind == "mills" or add_frames(asked.library) > 0
    more = {"grade_by": "llm"} if name == "crag" else {}
    seen = 0
    for arm in of.arms:
        with override(writer=(model := Greedy())):
            bound = most(of.arms[arm], asked, context_of(of.arms[arm], asked, "llm", more))
            await ask(arm, of.arms[arm], asked, Runner(), "llm", more)
        calls, tokens = model.taken()
        assert calls <= bound.calls and tokens <= bound.tokens, (arm, calls, tokens, bound)
        seen = max(seen, calls)
    assert seen > (3 if name == "video-rag" else 0)  # clips were looked at as well
