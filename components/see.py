"""Rewrite a question with pictures so that it can be understood without them."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.attachments import Attachment, with_words, words_in
from ragweave.components.run_context import RunContext
from ragweave.models.text import clip
from ragweave.prompts import load, quote

_READ = 2_000
"""Characters of the words in pictures for the model."""


async def read_pictures(run: RunContext, question: str, pictures: Sequence[Attachment]) -> Outcome[str]:
    """Return the question with the content of its pictures."""
    model = model_of(run.context, "vision") if run.context.look == "auto" else None
    return await first_of(run, model, by_model, locally, question, pictures)


async def locally(run: RunContext, question: str, pictures: Sequence[Attachment]) -> str:
    """Return the question with the words in its pictures."""
    words = words_in(pictures)
    if words:
        run.note(f"The words in what was sent as a picture were searched with the question: “{words}”")
    else:
        reason = _unread(pictures)
        run.note(
            f"The picture changed nothing: {reason}, and looking at it takes a vision model"
            " (RAGWEAVE_VISION)."
        )
    return with_words(question, words)


def _unread(pictures: Sequence[Attachment]) -> str:
    """Return why the first unreadable picture has no words."""
    for picture in pictures:
        if picture.unread:
            return picture.unread
    return "no words were found in it"


async def by_model(run: RunContext, question: str, pictures: Sequence[Attachment]) -> str | None:
    """Return the question with what a vision model sees in its pictures; None if the reply is no question."""
    words = "\n".join(p.words for p in pictures)
    prompt = load("see", question=question, words=quote(clip(words, _READ) or "(none)"))
    reply = await run.text(prompt, "vision", [p.image for p in pictures])
    if not 0 < len(reply) <= max(600, 4 * len(question)) or "\n" in reply:
        return None  # an answer or a refusal, not a question
    run.note(f"With what was sent as a picture, the question was read as: “{reply}”")
    return reply
