"""What an answer ends with where nothing in words answers: pictures found by their look, or the reason."""

from __future__ import annotations

from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Strip
from ragweave.minds.looks import shown_by_look
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip
from ragweave.minds.phrases import EMPTY, NOTHING


async def nothing_found(desk: Desk) -> str:
    """Say why nothing can be shown: the library is empty, or nothing in it is near the question."""
    return NOTHING if await desk.held() else EMPTY


def show_pictures(brief: Brief, page: Page) -> None:
    """Show the pictures that match by their look, where no text is shown; nothing is claimed of them."""
    found = [] if page.sentences else shown_by_look([*brief.rows.values()])
    if found:
        titles = ", ".join(f"“{title}”" for title in dict.fromkeys(e["title"] for e in found))
        text = f"Found by look alone; no text says what is shown: {titles}."
        rests = [Strip(**{**as_strip(e), "text": ""}) for e in found]
        page.show(text, "verified", rests, (1 + found[0].get("looks", 0.0)) / 2)
