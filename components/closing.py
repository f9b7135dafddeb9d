"""End an answer for which no text was found: show pictures found by their look, or give the reason."""

from __future__ import annotations

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.evidence import Strip
from ragweave.components.generation_input import GenerationInput
from ragweave.components.passages import as_strip
from ragweave.components.phrases import EMPTY, NOTHING
from ragweave.components.picture_relevance import shown_by_look
from ragweave.components.run_context import RunContext


async def nothing_found(run: RunContext) -> str:
    """Return why nothing can be shown: the library is empty, or nothing in it is near the question."""
    return NOTHING if await run.held() else EMPTY


def show_pictures(given: GenerationInput, builder: AnswerBuilder) -> None:
    """Show the pictures that match by their look, if no text is shown; state nothing about them."""
    if builder.sentences:
        return
    found = shown_by_look([*given.rows.values()])
    if not found:
        return
    titles: list[str] = []
    rests = []
    for row in found:
        title = f"“{row['title']}”"
        if title not in titles:
            titles.append(title)
        rests.append((Strip(**{**as_strip(row), "text": ""}), ""))
    text = f"Found by look alone; no text says what is shown: {', '.join(titles)}."
    builder.show(text, "unchecked", rests)
