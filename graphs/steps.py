"""The one table of nodes: what each step is called, for the trail of the command line and of the page."""

from __future__ import annotations

STEPS = {
    "frame": "Understood the question",
    "route": "Chose where to look",
    "expand": "Asked in other words",
    "plan": "Planned the search",
    "retrieve": "Searched",
    "recast": "Put the question into the words of recordings",
    "channel": "Searched the recordings",
    "pool": "Pooled the clips",
    "judge": "Judged the clips",
    "look": "Looked at the frames",
    "fuse": "Joined and ordered what came back",
    "grade": "Judged what came back",
    "refine": "Kept what bears on the question",
    "search_web": "Searched the web",
    "reason": "Asked what is still missing",
    "recall": "Wrote down what the model remembers",
    "generate": "Wrote the answer",
    "check": "Checked the answer",
}


def step_words(node: str) -> str:
    """Return what a node did, in words."""
    return STEPS.get(node, node.replace("_", " ").capitalize())
