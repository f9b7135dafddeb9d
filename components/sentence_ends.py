"""Find where a sentence ends in a text that may still grow."""

from __future__ import annotations

import re

from ragweave.components.citations import ends_behind, with_marks
from ragweave.components.mark_numbers import numbers_in
from ragweave.models.calendar import month_of
from ragweave.models.text import sentences

_ANY = 99
"""Documents that may be cited; how many were shown does not decide where a sentence ends."""
_WINDOW = 400
"""Characters that decide whether a sentence ends behind them, and that later text may still affect."""
MARK = re.compile(r"\s*[\[【]([1-9]\d{0,2}(?:\s*[,;，、]\s*[1-9]\d{0,2})*)[\]】]")
_GAP = r"[^\S\n]*\n?[^\S\n]*"
"""Matches the space before a mark; one behind an empty line belongs to no sentence before it."""
_END = re.compile(
    rf"(?:[.!?…][\"'”’)]*|[。！？][」』”’）]*)(?:{_GAP}[\[【]\d{{1,3}}(?:\s*[,;，、]\s*\d{{1,3}})*[\]】])*|\n"
)
_MARK = 60
"""Characters of a mark before a full stop in it, and behind it."""
_OPEN = re.compile(r"[\[【〔(（{](?=(?:\[\d{1,3}\]|[^\[\]【】〔〕()（）{}\n])*\Z)")
_CLOSE = re.compile(r"([^\[\]【】〔〕()（）{}\n]*)[\]】〕)）}]")
_NUMBERS = re.compile(r"\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*")
_CAPTION = re.compile(r"[\"“„«](?:\w+ )?\d+\.$")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*\n]+\*\*[^\S\n]*\n)")
_PAGE = re.compile(r"(?<![^\W\d_])(?:pp?|[Ss])\.$")
_ORDINAL = re.compile(r"(?<![\w.,])\d{1,2}\.$")
_NEXT = re.compile(r"(\w+)\W")
_WORDS = re.compile(r".*[^\W\d_](?=\W)", re.S)
"""Matches up to the end of the last word: the end of a sentence (quotes, marks, blanks) has no letter."""
LISTED = re.compile(r"\s*([-*•|]|\d{1,2}[.)])(?:\s+(?=\S)|(?<=\|))")
"""Matches the beginning of a line of a list or table, which is one sentence."""
_OPENS = re.compile(r"\s*(?:(?P<code>```+(?P<named>[\w+#.-]{0,20})[^\S\n]*\n)|(?P<dollars>\$\$)|\\\[)")
"""Matches the beginning of a block that is one sentence: a fence of code, a displayed formula."""
_CLOSES = {
    "code": re.compile(r"^ {0,3}```+", re.M),
    "dollars": re.compile(r"\$\$"),
    None: re.compile(r"\\\]"),
}


def settled_to(buffer: str, judged: int) -> int:
    """Return the position before which no further text can make a sentence end.

    Args:
        buffer: the text that has arrived.
        judged: an earlier result for the same text.
    """
    since = max(judged, len(buffer) - _WINDOW)
    found = _WORDS.match(buffer, since)
    if found is None:
        return judged
    # A mark belongs to the end of the sentence before it, with its letters and stops.
    settled = found.end()
    for match in _END.finditer(buffer, since):
        end = ends_behind(buffer, match.end())
        if match.group() != "\n" and _closed_behind(buffer, match.end()) is None:
            end = None
        if end is None or not buffer[end:].strip() or match.start() < settled < end:
            return max(judged, min(settled, match.start()))
    return settled


def boundary(buffer: str, judged: int = 0) -> int | None:
    """Return the end of the first sentence, or None while more text could still belong to it.

    Args:
        buffer: the text that has arrived.
        judged: position before which no sentence ends, so that a long sentence is not searched from its start
            for each token.
    """
    one_line = LISTED.match(buffer) is not None
    opened = _OPENS.match(buffer)
    if opened is not None:
        kind = "code" if opened["code"] else opened.lastgroup
        closed = _CLOSES[kind].search(buffer, opened.end())
        if closed is None:
            return None
        one_line = one_line or kind == "code"
        judged = max(judged, closed.end())
    return _first_end(buffer, judged, one_line)


def _first_end(buffer: str, since: int, one_line: bool) -> int | None:
    """Return the first end of a sentence from a position on; with `one_line` only a line break ends it."""
    past = 0
    for match in _END.finditer(buffer, since):
        if match.start() < past:
            continue  # within a mark: “[ref. 1]”
        is_break = match.group() == "\n"
        if not is_break and (one_line or _in_code(buffer, match.start())):
            continue
        closed = 0 if is_break else _closed_behind(buffer, match.end())
        if closed:
            past = closed
            continue
        end = match.end() if is_break else ends_behind(buffer, match.end())
        if end is None or closed is None:
            return None
        past = end
        found = _end_at(buffer, match, end)
        if found is not None:
            return found
    return None


def _end_at(buffer: str, match: re.Match[str], end: int) -> int | None:
    """Return the end of a sentence at a stop or line break whose marks end at `end`, or None."""
    is_break = match.group() == "\n"
    rest = buffer[end:]
    follows = rest.lstrip()
    # A mark may still arrive; one behind an empty line begins a line of its own.
    apart = is_break and "\n" in rest[: len(rest) - len(follows)]
    if not follows or (follows[0] in "[【" and not apart and not (is_break and _HEADING.match(buffer))):
        return None
    if is_break:
        return match.start() if buffer[: match.end()].strip() else None
    # A full stop inside a number or an abbreviation ends nothing; one without a space after it neither.
    is_wide = match.group()[0] in "。！？"
    return end if is_wide or (rest[0] != follows[0] and _ends(buffer, end, follows)) else None


def _closed_behind(buffer: str, at: int) -> int | None:
    """Return where a mark ends that a full stop before `at` is part of: “(see doc. 3)”, “[1, p. 3]”.

    Returns 0 if the full stop is in no mark, and None while more text may complete one.
    """
    opened = _OPEN.search(buffer, max(0, at - _MARK), at)
    if opened is None:
        return 0
    window = buffer[at : at + _MARK]
    closed = _CLOSE.match(window)
    if closed is None:
        return None if len(window) < _MARK and "\n" not in window else 0
    inner = closed[1]
    content = re.sub(r"[\[\]]", "", buffer[opened.end() : at] + inner)
    is_mark = _NUMBERS.fullmatch(inner) or numbers_in(content) is not None
    return at + closed.end() if is_mark else 0


def _ends(buffer: str, end: int, follows: str) -> bool:
    """Return whether a full stop ends a sentence and is not part of a date, number or abbreviation."""
    before = with_marks(buffer[max(0, end - _WINDOW) : end], shown=_ANY)
    next_word = _NEXT.match(follows)
    if _ORDINAL.search(before) and (not next_word or month_of(next_word[1])):
        return False  # “am 1. September”, or what may become that
    if _PAGE.search(before) and follows[0].isdigit():
        return False  # “p. 3”
    if _CAPTION.search(before):
        return False  # “Figure 1. The parts of the hive”
    following = next_word[1] if next_word else "Next"
    return len(sentences(f"{MARK.sub('', before).strip()} {following}")) > 1


def _in_code(text: str, at: int) -> bool:
    """Return whether inline code is open at a position of its line."""
    return text.count("`", text.rfind("\n", 0, at) + 1, at) % 2 == 1
