"""Read the citation marks of models: brackets, tags or raised numbers with numbers of documents."""

from __future__ import annotations

import re
from itertools import islice

from ragweave.components.mark_numbers import PLACE, bare_numbers, leads_to_a_mark, numbers_in, plain_digits

_OPENS = "[【〔［〖⟦(（{"
_CLOSES = "]】〕］〗⟧)）}"
_WEAK = "(（{"
"""Opening brackets that often contain other numbers than those of documents."""
_MARKS = r"(?:\[\d{1,3}\])+"
_LINK = r"\([^)\s]{0,300}(?:\s\"[^\"\n]{0,80}\")?\)"
_INNER = rf"[^{re.escape(_OPENS + _CLOSES)}\n]"
_BRACKET = re.compile(
    rf"\\?([{re.escape(_OPENS)}])({_INNER}{{1,100}}|{_INNER}{{0,20}}\([^()\n]{{1,20}}\){_INNER}{{0,20}})"
    rf"\\?[{re.escape(_CLOSES)}]({_LINK})?"
)
_FAINT = re.compile(
    r"(?:\(\(|\{\{|[(（{｛「『《〈«‹⟨❨<])\s*([^\s()（）{}｛｝<>「」『』《》〈〉«»‹›⟨⟩❨❩\n][^()（）{}｛｝<>\n]{0,29}?)\s*"
    r"(?:\)\)|\}\}|[)）}｝」』》〉»›⟩❩>])"
)
"""Matches other brackets with what may be numbers."""
_PLACED = re.compile(r"[\[【]([1-9]\d?):\d{1,3}(?:\s?[-–]\s?\d{1,3})?[\]】]")
"""Matches a document and a place in it: “[1:2]”."""
_WRAPPED = re.compile(
    r"[\[【(（{]\s*([^\d\[\]【】()（）{}\n]{0,40})((?:\s*[,;|]?\s*\[\d{1,3}\])+)"
    rf"(?:[\s,;:]*{PLACE}[^\[\]()（）\n]*)?\s*[\]】)）}}]",
    re.I,
)
"""Matches marks inside another bracket, alone, behind words or before a page: “(see [1], p. 3)”."""
_LED = re.compile(rf"(?:\s*[—–→:：|]+|\s+-+|\s+[^\W\d_]+\s?[:：])\s*(?={_MARKS}\s*(?:[.!?。！？]|\n|\Z))")
"""Matches a dash, a colon or “Source:” before the marks at the end of a sentence."""
_LINKED = re.compile(rf"\^?({_MARKS})(?:\([^()\s]*\))?\^?")
"""Matches a mark that is raised or a link."""
_SET = re.compile(rf"([*_~=]{{1,3}}|<(\w{{1,12}})\b[^<>]{{0,60}}>\s*)({_MARKS})(?:\1|\s*</\2\s*>)")
"""Matches marks that are bold, raised or the like."""
_JOINED = re.compile(
    r"(?<=\d\])(?:\s?[,;、，/&+]\s?|\s(?:and|und|et|y|e|och|og|en|i|и|و|和|与|と|ve)\s)(?=\[\d{1,3}\])"
)
"""Matches what joins marks: “[1], [2] and [3]”."""
_MATH = re.compile(rf"(?:\$\^?\{{?|\\\()(?:\\\w+\{{)?({_MARKS})\}}*(?:\$|\\\))")
_SPAN = re.compile(r"\[(\d{1,3})\]\s?[-–—~]\s?\[(\d{1,3})\]")
_NAMED = (
    r"cit(?:e|ation)s?|co|ref(?:erence)?s?|sources?|src|doc(?:ument)?s?|footnotes?|fn"
    r"|(?:doc|source|chunk)_?id"
)
_PAIR = re.compile(rf"<(sup|a|small|span|{_NAMED})\b[^<>]{{0,60}}>([^<>\n]{{1,40}})</\1\s*>", re.I)
_SINGLE = re.compile(
    rf"</?\|?(?:{_NAMED})[\s:_=-]*(?:\w+\s*=\s*)?[\"']?([\d,;\s]{{1,20}})[\"']?\s*[/|]?>", re.I
)
_AROUND = re.compile(
    rf"<({_NAMED})\s[^<>]{{0,40}}?=\s?[\"']?([\d,\s]{{1,20}})[\"']?[^<>\d]{{0,20}}>([^<>]+)</\1\s*>", re.I
)
"""Matches a tag around the cited words."""
_EMPTY = re.compile(
    rf"</?(?:co|cite|citation)s?\s*>|\[/?(?:{_NAMED})_(?:start|end)\]\s?|(?<=\])\s*</(?:{_NAMED})\s*>", re.I
)
_LATEX = re.compile(r"~?\\(?:\w*cite\w*|footnote\w*|ref|textsuperscript)[\[{]([^{}\n]{1,20})[\]}]")
_RAISED = re.compile(
    r"\$?(?<!\[)\^\{?(?P<open>\[)?(?P<numbers>[\d,;\s-]{1,12})"
    r"(?(open)\]\}?|(?:\}|\^|(?=\$|[.;!?]?(?:\s|\Z))))\s*\$?"
)
_SIGNS = "⁰¹²³⁴-⁹"
_CIRCLED = "①-⑨❶-❾⑴-⑼➀-➈➊-➒⓵-⓽"
_SUPERSCRIPT = re.compile(
    rf"(?<![⁺⁻])⁽?[{_SIGNS}]{{1,3}}⁾?(?:\s?[,˒،⁻–]\s?⁽?[{_SIGNS}]{{1,3}}⁾?)*|[{_CIRCLED}]+"
)
_PLAIN_SIGNS = str.maketrans("⁻˒،", "-,,", "⁽⁾")
_MEASURED = re.compile(r"(?:\d|(?<![^\W\d_])[^\W\d_]{1,3}|\))\$?\Z")
"""Matches the base of a power before a raised number: a number or a short unit."""
_YEAR = re.compile(r"(?<![\w.,])(?!1000)[12]\d{3}\$?\Z")
_ENDS_CLAUSE = re.compile(r"\s*(?:[.,;:!?。，；：！？…)\]|]|\Z|\n|\[\d)")
_STRONG = re.compile(r"\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")


def with_marks(text: str, shown: int = 0) -> str:
    """Return a sentence with all its marks written as `[1]`.

    Args:
        text: a sentence without code.
        shown: how many documents the model was shown. Numbers in other brackets than square ones and raised
            numbers are marks only within this range, at the end of a clause, and if the sentence has no other
            marks.
    """
    if not _ODD.search(text):
        return text
    text = _AROUND.sub(lambda m: m.group() if numbers_in(m[3]) else f"{m[3]}[{m[2].strip()}]", text)
    text = _PAIR.sub(_pair, text)
    text = _EMPTY.sub("", _SINGLE.sub(_plain, text))
    text = _RAISED.sub(_raised, _LATEX.sub(_plain, text))
    text = _BRACKET.sub(_bracket, text)
    text = _LINKED.sub(r"\1", _WRAPPED.sub(_wrapped, _JOINED.sub("", text)))
    if shown and not _STRONG.search(text):
        text = _weakly(text, shown)
    text = _JOINED.sub("", _MATH.sub(r"\1", _SET.sub(r"\3", text)))
    text = _SPAN.sub(lambda m: _plain(m, f"{m[1]}-{m[2]}"), text)
    return _LED.sub(_led, text)


def _weakly(text: str, shown: int) -> str:
    """Return a sentence without marks in square brackets with its other marks in plain form."""
    marked = _FAINT.sub(lambda m: _weak(m, shown), _PLACED.sub(lambda m: _weak(m, shown), text))
    if marked != text:
        return marked
    return _SUPERSCRIPT.sub(lambda m: _superscript(m, shown), text)


def pure(text: str) -> bool:
    """Return whether a text consists of marks only."""
    return re.fullmatch(r"(?:\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\])+\s*", with_marks(text)) is not None


def ends_behind(text: str, at: int) -> int | None:
    """Return where the marks behind a position end, or None while more text may complete one."""
    while True:
        if text[at - 1 : at] in _MARK_ENDS:
            further = _FURTHER.match(text, at)
            if further is not None:
                if further["open"] is not None:
                    return None
                at = further.end()
        rest = text[at:]
        start = at + len(rest) - len(rest.lstrip(" \t"))
        window = text[start : start + _LONGEST]
        if not window or window[0] not in _STARTS:
            return at
        end = _first_mark_end(window)
        if not end:
            return None if len(window) < _LONGEST and _may_become_mark(window) else at
        at = start + end


def _may_become_mark(window: str) -> bool:
    """Return whether a text may become a mark with the text that follows: a bracket of it is open."""
    if "\n" in window:
        return False
    open_brackets = 0
    for sign in window:
        open_brackets += (sign in _OPENS) - (sign in _CLOSES)
        if sign in _CLOSES and open_brackets <= 0:
            break
    return open_brackets > 0 or _PENDING.match(window) is not None


def _first_mark_end(window: str) -> int:
    """Return where the mark at the beginning of a text ends, or 0 if there is none."""
    raised = _SUPERSCRIPT.match(window)
    if raised is not None:
        return raised.end()
    for end in _closed_at(window):
        if pure(window[:end]):
            return end
    last = _LAST.match(window)
    return 0 if last is None else last.end()


def _closed_at(window: str) -> list[int]:
    """Return where a mark may end; signs after it may begin the next one, as in `^[1]^[2]`, `$^1$$^2$`."""
    ends = []
    for m in islice(_CLOSING.finditer(window), _TRIES):
        end = m.end()
        ends.append(end)
        while end - 1 > m.start() and window[end - 1] in "^$*_":
            end -= 1
            ends.append(end)
    return ends


def _marks(numbers: list[int]) -> str:
    """Return marks in plain form."""
    return "".join(f"[{n}]" for n in numbers)


def _plain(m: re.Match[str], content: str = "") -> str:
    """Return a tag or LaTeX command as plain marks; other text as it is."""
    found = numbers_in(content or m[1])
    return m.group() if found is None else _marks(found[0])


def _wrapped(m: re.Match[str]) -> str:
    """Return marks without the bracket around them, unless it holds other text."""
    return re.sub(r"[\s,;|]+", "", m[2]) if leads_to_a_mark(m[1]) else m.group()


def _led(m: re.Match[str]) -> str:
    """Return the space before marks for a dash or “Source:”, and other words as they are."""
    words = m.group().strip(" :：—–→|-")
    return m.group() if words and not leads_to_a_mark(words) else " "


def _pair(m: re.Match[str]) -> str:
    """Return a pair of tags as plain marks, unless it raises a power."""
    found = numbers_in(m[2].strip("[]()【】 "))
    if found is None:
        return m.group()
    may_raise = m[1].lower() in ("sup", "small", "span", "a")
    return m.group() if may_raise and _is_power(m) else _marks(found[0])


def _is_power(m: re.Match[str]) -> bool:
    """Return whether the text before a raised number makes it a power; years have none."""
    before = m.string[: m.start()]
    return _MEASURED.search(before) is not None and _YEAR.search(before) is None


def _raised(m: re.Match[str]) -> str:
    """Return a raised number as plain marks, unless it is a power."""
    found = numbers_in(m["numbers"])
    return m.group() if found is None or _is_power(m) else _marks(found[0])


def _bracket(m: re.Match[str]) -> str:
    """Return a bracket as plain marks; a round one only if a word such as “source” is in it."""
    found = numbers_in(m[2])
    is_weak = m[1] in _WEAK
    if found is None or (is_weak and not found[1]):
        return m.group()
    behind = m[3] or ""
    return _marks(found[0]) + (behind if is_weak else "")


def _weak(m: re.Match[str], shown: int) -> str:
    """Return another bracket as plain marks if it ends a clause and names shown documents only."""
    numbers = bare_numbers(m[1])
    before = m.string[: m.start()].rstrip("*_")
    if not numbers or not _all_shown(numbers, shown) or not before.strip():
        return m.group()
    is_apart = not before[-1].isascii() or before[-1] in " \t.,;:!?\"')" or not m.group().isascii()
    ends_clause = _ENDS_CLAUSE.match(m.string[m.end() :].lstrip("*_"))
    return _marks(numbers) if is_apart and ends_clause else m.group()


def _superscript(m: re.Match[str], shown: int) -> str:
    """Return raised or circled digits as plain marks if they name shown documents only, and are no power."""
    circled = re.match(rf"[{_CIRCLED}]", m.group()) is not None
    if _is_power(m) or (circled and not _ENDS_CLAUSE.match(m.string, m.end())):
        return m.group()
    plain = plain_digits(m.group()).translate(_PLAIN_SIGNS)
    numbers = bare_numbers(plain)
    if circled or not _all_shown(numbers, shown):
        numbers = list(map(int, re.findall(r"\d", plain)))  # “¹²” may be two marks
    return _marks(numbers) if _all_shown(numbers, shown) else m.group()


def _all_shown(numbers: list[int], shown: int) -> bool:
    """Return whether all numbers are those of shown documents."""
    return bool(numbers) and 1 <= min(numbers) and max(numbers) <= shown


_ODD = re.compile(
    rf"[【〔［〖⟦(（{{<^\\$｛「『《〈«‹⟨❨⁽{_SIGNS}{_CIRCLED}]"
    r"|\[(?![0-9]{1,3}(?:\s*[,;，、]\s*[0-9]{1,3})*\](?![(\]]))|[*_~=—–→:：|-]\s*\[\d"
    r"|\](?:\s?[,;、，/&+]|\s\w{1,3}\s)\s?\[\d"
)
"""Matches in a sentence with marks that are not plain, or with other brackets."""
_STARTS = _OPENS + "<\\^$*_⁽⁰¹²³⁴⁵⁶⁷⁸⁹"
_MARK_ENDS = "]】>¹²³⁰⁴⁵⁶⁷⁸⁹"
_CLOSING = re.compile(rf"[{re.escape(_CLOSES)}>^$*_]+(?:{_LINK})?")
_LONGEST = 110
"""Characters that one mark may have."""
_LAST = re.compile(r"[(（{]\d{1,3}(?:\s*[,;]\s*\d{1,3})*[)）}](?=\s*(?:\n|\Z))")
"""Matches numbers in round brackets at the end of a line."""
_FURTHER = re.compile(
    rf"(?:⁾|{_LINK}|\s?[-–—~,;、，/&]\s?\[\d{{1,3}}\]|</[a-z]{{1,12}}\s*>)"
    r"|(?P<open>\([^()\n]{0,100}|\s?[-–—~,;、，/&]\s?(?:\[\d{0,3})?|</?[a-z]{0,12})\Z"
)
"""Matches what continues a mark, such as a link, a range or a closing tag; `open` is the beginning of it."""
_TRIES = 4
"""Closing brackets that are tried as the end of a mark."""
_PENDING = re.compile(
    rf"<(?:{_NAMED})\b[^<>\n]{{0,60}}>[^<>\n]{{0,40}}(?:</?\w{{0,10}})?\Z|"
    r"(?:</?[a-z][^<>\n]{0,60}>[\s\[\]\d,;()#]{0,20}){0,5}(?:<(?:[/a-z|][^<>\n]{0,60})?)?\Z"
    r"|~?\\\w{0,16}\{?[\d,\s]*\Z|[*_^$⁽]{1,3}[\[\]{\d,;\s^-]*[*_]{0,3}\Z",
    re.I,
)
"""Matches what may become a mark with the text that follows."""
