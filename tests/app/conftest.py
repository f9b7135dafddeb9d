"""A stand-in for the agent, so that the command line is tested by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from ragweave.app import api
from ragweave.components.answer import Answer
from ragweave.components.evidence import Citation, Sentence

LIGHTHOUSE = Answer(
    question="When was it lit?",
    text="It was lit in 1874. [1]",
    sentences=(Sentence(text="It was lit in 1874.", support="verified", citations=(1,), confidence=0.9),),
    citations=(
        Citation(
            n=1,
            id="p1",
            title="The lighthouse",
            locator={"kind": "heading", "file": "/notes/lighthouse.md", "heading": ["History"]},
            quote="It was lit in 1874.",
        ),
    ),
    confidence=0.9,
)


class Agent:
    """Answers with what it is given and remembers what it was asked."""

    def __init__(self) -> None:
        self.answer = LIGHTHOUSE
        self.asked: list[str] = []
        self.options: list[dict[str, Any]] = []
        self.error: Exception | None = None
        self.consents: list[Any] = []

    async def astream(self, question: str, **options: Any) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of a short run."""
        self.asked.append(question)
        self.options.append(options)
        if self.error is not None:
            raise self.error
        yield {
            "type": "step",
            "node": "route",
            "hop": 1,
            "by": "local",
            "summary": "paragraph .82",
            "seconds": 0.002,
        }
        if self.consents and options.get("resume") is None:
            yield {"type": "consent", "query": self.consents[0]}
            yield {"type": "state", "state": {}}
            return
        for n, s in enumerate(self.answer.sentences, 1):
            cited = [c.model_dump() for c in self.answer.citations if c.n in s.citations]
            said = s.model_dump(include={"text", "support", "sign", "marked"})
            yield {"type": "sentence", "n": n, **said, "citations": cited}
        yield {
            "type": "step",
            "node": "check",
            "hop": 1,
            "by": "rule",
            "summary": "1 sentence",
            "seconds": 0.001,
        }
        yield {"type": "state", "state": {"answer": self.answer}}


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Agent:
    """Put the stand-in where the command line looks for the agent."""
    stand_in = Agent()
    monkeypatch.setattr(api, "astream", stand_in.astream)
    return stand_in
