"""Form and rule cues of a question: dense, few, and tied to the meaning of the labels."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ragweave.models.text import script

CUES: dict[str, str] = {
    "medium_image": r"\b(?:photos?|pictures?|images?|snapshots?|screenshots?|charts?|graphs?|diagrams?|plots?|drawings?|paintings?|posters?|slides?|maps?|logos?|figures?|sketch(?:es)?|selfies?|infographics?|floor ?plans?)\b",
    "medium_video": r"\b(?:videos?|recordings?|footage|films?|movies?|clips?|episodes?|webinars?|lectures?|talks?|podcasts?|vlogs?|documentar(?:y|ies)|livestreams?|streams?|scenes?|interviews?|keynotes?)\b",
    "medium_text": r"\b(?:documents?|reports?|papers?|articles?|notes?|books?|chapters?|contracts?|emails?|letters?|manuals?|pages?|paragraphs?|sections?|minutes|polic(?:y|ies)|files?|memos?|guides?|handbooks?)\b",
    "moment": r"\b(?:at what (?:point|time|minute|second|moment)|what (?:minute|second|timestamp)|timestamps?|right (?:after|before|when)|just (?:after|before|when)|moment|when (?:does|did) (?:he|she|they|the)|the (?:part|bit|scene|moment) where|\d{1,2}:\d{2}|minutes? in|seconds? in|at the (?:start|beginning|end))\b",
    "whole": r"\b(?:overall|whole|entire|throughout|from start to finish|beginning to end|start to end|in total|across|summar(?:y|ize|ise)|recap|overview|takeaways?|main (?:points?|ideas?|themes?|topics?)|in order|step by step|walk me through)\b",
    "looks": r"\b(?:colou?rs?|shapes?|wearing|wears?|worn|visible|facing|background|foreground|left|right|top|bottom|corner|beside|next to|behind|standing|seated|holding|striped|pattern|taller|wider|shown|depicted|look like|looks like|see|seen)\b",
    "acts": r"\b(?:says?|said|mentions?|mentioned|does .* do|happens?|happened|walks?|picks? up|puts?|opens?|enters?|leaves?|pours?|laughs?|reacts?|speaker|presenter|host|narrator)\b",
    "procedure": r"\b(?:how (?:do|can|should|to) |steps?\b|procedure|process (?:for|of|to)|method for|best way to|way to)\b",
    "compare": r"\b(?:compare|comparison|differences?|differ|versus|vs|both|either|which (?:of|one)|older|younger|earlier|later|first|more|larger|than)\b",
    "summary": r"\b(?:summar\w+|overview|recap|gist|outline|themes?|list all|all the|relationship|pros and cons)\b",
    "compose": r"\b(?:write|draft|translate|rewrite|rephrase|calculate|compute|solve|convert|brainstorm|suggest|poem|haiku|joke|synonym|python|code|function|spell)\b",
    "greeting": r"^\W*(?:hi|hello|hey|thanks|thank you|good (?:morning|evening|night|afternoon))\b",
    "mine": r"\b(?:my|our|we|i)\b",
    "recorded": r"\b(?:said|recorded|filmed|uploaded|watch(?:ed|ing)?|minute|hour|second)\b",
    "exam": r"\b(?:which of the following|following|except|statements?|true|false|is known as|would be|is called|best described)\b",
}
_COMPILED = {name: re.compile(pattern, re.I) for name, pattern in CUES.items()}

DENSE_NAMES: tuple[str, ...] = (
    *CUES,
    "length",
    "names",
    "numbers",
    "years",
    "commas",
    "quoted",
    "question_mark",
    "capital_start",
    "relatives",
    "of",
    "han",
    "wh_late",
)
_RELATIVE = frozenset("who which that whose whom where".split())
_WH = frozenset("who whom whose when where which what why how".split())


def dense(text: str, tokens: list[str], folded: list[str]) -> NDArray[np.float32]:
    """Return the cue vector; every value lies between 0 and about 3."""
    lowered = [t.lower() for t in tokens]
    values = [min(len(p.findall(text)), 3) for p in _COMPILED.values()]
    values += [
        min(len(folded), 60) / 20,
        min(sum(t[0].isupper() for t in tokens[1:] if t[0].isalpha()), 8) / 4,
        min(sum(t[0].isdigit() for t in tokens), 4) / 2,
        min(len(re.findall(r"\b(?:1\d{3}|20\d{2})\b", text)), 2),
        min(text.count(","), 4) / 2,
        float('"' in text or "“" in text),
        float(text.endswith("?")),
        float(text[:1].isupper()),
        min(sum(t in _RELATIVE for t in lowered[1:]), 3),
        min(lowered.count("of"), 4) / 2,
        float(script(text) in ("han", "kana")),
        float(not any(t in _WH for t in lowered[:2]) and any(t in _WH for t in lowered[2:])),
    ]
    return np.array(values, dtype=np.float32)
