"""Understand a question without its pictures: the words that were read in them stand behind it."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.attachments import Attachment, with_words, words_in
from ragweave.components.run_context import RunContext


async def see(run: RunContext, question: str, pictures: Sequence[Attachment]) -> str:
    """Return the question with the words in its pictures."""
    words = words_in(pictures)
    if words:
        run.note(f"The words in what was sent as a picture were searched with the question: “{words}”")
    else:
        why = next((p.unread for p in pictures if p.unread), "no words were found in it")
        run.note(f"The picture changed nothing: {why}, and looking at it takes a vision model (RAGWEAVE_VISION).")
    return with_words(question, words)
