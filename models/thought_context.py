"""Decide what a tag or a line means by the text around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ragweave.models.reply_tags import ANSWERS, TAG, THOUGHT_LINES, tag_of

_SENTENCE_ENDS = '.!?。！？])"”»*_`'
_SPEAKS = re.compile(r"^[\s>*#_]*([^\W\d][\w ]{0,20})[*_]*[:：]", re.M)
"""Matches a line that begins with the name of a speaker, or with a label."""


@dataclass
class Inside:
    """An open thought, or an open pair of tags with an unknown name that may be a thought."""

    kind: Literal["thought", "channel", "phrase", "pair"]
    name: str
    raw: str
    inline: bool = False
    until: re.Pattern[str] | None = None
    otherwise: re.Pattern[str] | None = None
    searched: int = 0

    @property
    def ends(self) -> tuple[str, ...]:
        """The kinds of tags that end the thought without its closing tag."""
        if self.kind == "channel":
            return ("channel", "end", "turn", "role", "special")
        return ("end", "turn") if self.raw.startswith(("<|", "<｜")) else ()


def is_mention(ready: str, follows: str) -> bool:
    """Return whether a tag is part of a sentence: words before it in its line, and a space behind it."""
    line = ready.rpartition("\n")[2].rstrip()
    in_sentence = len(line.split()) > 1 and (line[-1].isalnum() or line[-1] in ",'\"“")
    return in_sentence and follows in (" ", ",", ".")


def is_invented(ready: str) -> bool:
    """Return whether another speaker's turn behind a text is invented, and no line of a dialogue."""
    ready = ready.rstrip()
    if ready[-1:] not in _SENTENCE_ENDS:
        return False
    for label in _SPEAKS.findall(ready):
        if not ANSWERS.search(label):
            return False
    return True


def answer_at(text: str) -> int | None:
    """Return where the answer begins behind the last tag that opens one, or None."""
    at = None
    for found in TAG.finditer(text):
        if found["fence"] or found["code"] or found["turn"]:
            continue
        tag = tag_of(found)
        if tag.kind == "answer" and not tag.closes:
            at = found.end()
    return at


def may_be_thought_line(head: str) -> bool:
    """Return whether a line that names a thought may begin with `head`."""
    for line in THOUGHT_LINES:
        if line.startswith(head):
            return True
    return False
