"""The one table of nodes: what each step is called, for the trail of the command line and of the page."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """How a node is told of.

    Attributes:
        words: what it has done.
        next: what the run does after it, for the one who waits.
        name: its name in a drawing of the graph.
    """

    words: str
    next: str
    name: str = ""


STEPS: dict[str, Step] = {
    "condense": Step("Understood the question", "Choosing where to look", "Question"),
    "route": Step("Chose where to look", "Looking", "Where"),
    "expand": Step("Asked in other words", "Looking", "Rephrase"),
    "plan": Step("Planned the search", "Searching", "Plan"),
    "retrieve": Step("Searched", "Putting in order what came back", "Files"),
    "retrieve_video": Step("Searched the recordings", "Putting in order what came back", "Recordings"),
    "rewrite": Step("Put the question into the words of recordings", "Searching the recordings"),
    "retrieve_clips": Step("Searched the recordings", "Searching the recordings"),
    "merge": Step("Merged what the retrievers found", "Judging the clips"),
    "judge": Step("Judged the clips", "Looking at the frames"),
    "look": Step("Looked at the frames", "Putting in order what came back"),
    "fuse": Step("Joined and ordered what came back", "Judging what came back", "Order"),
    "grade": Step("Judged what came back", "Reading what matters", "Judge"),
    "refine": Step("Kept what bears on the question", "Reading what was found", "Keep"),
    "search_web": Step("Searched the web", "Reading what was found", "Web"),
    "reason": Step("Asked what is still missing", "Writing the answer", "Think"),
    "recall": Step("Wrote down what the model remembers", "Reading what was found", "Memory"),
    "generate": Step("Wrote the answer", "Checking the answer", "Write"),
    "check": Step("Checked the answer", "Done", "Check"),
}


def step_of(node: str) -> Step:
    """Return how a node is told of; one that the table lacks is told by its name."""
    return STEPS.get(node) or Step(node.replace("_", " ").capitalize(), "")
