"""The display labels of nodes, for the command line and the web page."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """The display labels of a node.

    Attributes:
        words: label of the finished node.
        next: label of the next step, for a reader who is waiting.
    """

    words: str
    next: str


STEPS: dict[str, Step] = {
    "condense": Step("Understood the question", "Choosing where to look"),
    "route": Step("Chose where to look", "Searching"),
    "expand": Step("Asked in other words", "Searching"),
    "retrieve": Step("Searched", "Putting in order what came back"),
    "retrieve_video": Step("Searched the recordings", "Putting in order what came back"),
    "rewrite": Step("Put the question into the words of recordings", "Searching the recordings"),
    "retrieve_clips": Step("Searched the recordings", "Searching the recordings"),
    "merge": Step("Merged what the retrievers found", "Judging the clips"),
    "judge": Step("Judged the clips", "Looking at the frames"),
    "look": Step("Looked at the frames", "Putting in order what came back"),
    "fuse": Step("Joined and ordered what came back", "Judging what came back"),
    "grade": Step("Judged what came back", "Reading what matters"),
    "refine": Step("Kept what bears on the question", "Reading what was found"),
    "search_web": Step("Searched the web", "Reading what was found"),
    "reason": Step("Asked what is still missing", "Writing the answer"),
    "recall": Step("Wrote down what the model remembers", "Reading what was found"),
    "generate": Step("Wrote the answer", "Checking the answer"),
    "check": Step("Checked the answer", "Done"),
}


def step_of(node: str) -> Step:
    """Return the display labels of a node; a node that is not in the table is labelled with its name."""
    return STEPS.get(node) or Step(node.replace("_", " ").capitalize(), "")
