"""What an answer ends with where nothing in words answers: pictures found by their look, or the reason."""

from __future__ import annotations

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.evidence import Strip
from ragweave.components.generation_input import GenerationInput
from ragweave.components.passages import as_strip
from ragweave.components.phrases import EMPTY, NOTHING
from ragweave.components.picture_relevance import shown_by_look
from ragweave.components.run_context import RunContext


async def nothing_found(run: RunContext) -> str:
    """Say why nothing can be shown: the library is empty, or nothing in it is near the question."""
    return NOTHING if await run.held() else EMPTY


def show_pictures(given: GenerationInput, builder: AnswerBuilder) -> None:
    """Show the pictures that match by their look, where no text is shown; nothing is claimed of them."""
    found = [] if builder.sentences else shown_by_look([*given.rows.values()])
    if found:
        titles = ", ".join(f"“{title}”" for title in dict.fromkeys(e["title"] for e in found))
        text = f"Found by look alone; no text says what is shown: {titles}."
        rests = [(Strip(**{**as_strip(e), "text": ""}), "") for e in found]
        builder.show(text, "unchecked", rests)
