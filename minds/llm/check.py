"""A second opinion of a language model on what the small check finds supported: who did what to whom."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Strip
from ragweave.minds.known import Checked
from ragweave.minds.small import check as small
from ragweave.models.text import clip
from ragweave.prompts import load, quote

_SHOWN = 1_500
"""Characters of a strip that a model checks against."""


async def check(desk: Desk, sentence: str, strips: Sequence[Strip], question: str) -> Checked | None:
    """Return the small check's verdict where the model agrees; None where the model's own cannot be read.

    A sentence that stands in its evidence word for word needs no second opinion.
    """
    verdict = await small.check(desk, sentence, strips, question)
    rests = [strips[i] for i in verdict.by]
    if not verdict.supported or any(small.stands_in(sentence, s["text"]) for s in rests):
        return verdict
    shown = "\n\n".join(quote(f"{s['title']}\n{clip(s['text'], _SHOWN)}") for s in rests)
    messages = load("check", question=question, sentence=sentence, evidence=shown)
    label = await desk.label(messages, ["supported", "unsupported"])
    if label == "unsupported":
        return Checked(False, 0.0, (), "The model that checks finds it unsupported.")
    return verdict if label else None
