"""Read the citation marks of models: brackets, tags or raised numbers with numbers of documents."""

from __future__ import annotations

import re
from itertools import islice

_OPENS = "[【〔［〖⟦(（{"
_CLOSES = "]】〕］〗⟧)）}"
_WEAK = "(（{"
"""Opening brackets that often contain other numbers than those of documents."""
_BRACKET = re.compile(
    rf"\\?([{re.escape(_OPENS)}])([^{re.escape(_OPENS + _CLOSES)}\n]{{1,100}})"
    rf"\\?[{re.escape(_CLOSES)}](\([^)\s]*\))?"
)
_WRAPPED = re.compile(r"[\[【(（]\s*(?:[^\W\d_]{2,12}[.:]?\s*)?((?:\s*[,;]?\s*\[\d{1,3}\])+)\s*[\]】)）]")
"""Matches marks inside another bracket, alone or behind a word: “(see [1])”."""
_LINKED = re.compile(r"\^?((?:\[\d{1,3}\])+)(?:\((?:https?:|[#/.])[^)\s]*\))?")
"""Matches a mark that is raised or a link."""
_NAMED = r"cit(?:e|ation)s?|co|ref(?:erence)?s?|sources?|src|doc(?:ument)?s?|footnotes?|fn"
_PAIR = re.compile(rf"<(sup|a|small|span|{_NAMED})\b[^<>]{{0,60}}>([^<>\n]{{1,40}})</\1\s*>", re.I)
_SINGLE = re.compile(rf"</?(?:{_NAMED})[\s:_=-]*(?:\w+\s*=\s*)?[\"']?([\d,;\s]{{1,20}})[\"']?\s*/?>", re.I)
_EMPTY = re.compile(r"</?(?:co|cite|citation)s?\s*>", re.I)
_LATEX = re.compile(r"\\(?:cite\w*|footnote\w*|textsuperscript)\{([^{}\n]{1,20})\}")
_RAISED = re.compile(r"\$?(?<!\[)\^\{?\[?([\d,;\s-]{1,12})(?:\]\}?|\}|\^)\s*\$?")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴-⁹]{1,3}(?:\s?[,˒،]\s?[⁰¹²³⁴-⁹]{1,3})*")
_MEASURED = re.compile(r"(?:\d|(?<![^\W\d_])[^\W\d_]{1,3}|\))\$?\Z")
"""Matches the base of a power before a raised number: a number or a short unit."""
_ENDS_CLAUSE = re.compile(r"\s*(?:[.,;:!?。，；：！？…)\]|]|\Z|\n|\[\d)")
_STRONG = re.compile(r"\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_DOCUMENTS = re.compile(
    r"(?:do[ck]u?ment\w*|do[ck]s?|sources?|src|ref(?:erence|erencia|erenz)?s?|réf(?:érence)?s?"
    r"|cit(?:e|ed|ation|a|at)?s?"
    r"|passages?|evidence|excerpts?|snippets?|chunks?|context|texts?|items?|results?|footnotes?"
    r"|notes?|fn|ids?|index"
    r"|quellen?|belege?|fuentes?|fontes?|fonti|bron(?:nen)?|käll(?:a|or)|kilder?|lähde|lähteet"
    r"|źródł[oa]|zdroje?"
    r"|forrás|sursa|sursă|izvor|πηγή|kaynak|источник\w*|документ\w*|джерел[оа]|מקור"
    r"|مصدر|المصدر|منبع|स्रोत|nguồn"
    r"|sumber|文档|文件|文献|来源|出处|资料|資料|文書|出典|参考|참고|출처|문서|แหล่งที่มา|pièces?|passagem|párrafo"
    r"|no|nr|num|number|nummer|número|numéro|see|siehe|vgl|cf|voir|ver|vedi|см)\.?\Z",
    re.I,
)
_PLACES = re.compile(
    r"(?:pp?|pages?|seiten?|s|lines?|l|sect?(?:ion)?|chars?|par(?:a|agraph)?s?|abs(?:atz)?"
    r"|ch(?:apter)?|стр|页|段)\.?\Z",
    re.I,
)
"""Matches a word before the number of a page or line within a document."""
_RANGES = frozenset({"-", "–", "—", "~", "to", "bis", "à", "do", "до", "至", "到"})
_WIDEST = 20
"""Documents that one range may span."""
_TOKEN = re.compile(r"\d+|[^\W\d_]+\.?|\s+|.")
_FREE = ":#.=№°_\"'^\\* "


def numbers_in(content: str) -> tuple[list[int], bool] | None:
    """Return the documents that a mark names, and whether a word names them; None if it is other text."""
    reading = _MarkReading()
    text = re.sub(r"(?::\d+)?†[^,;，、]*", "", content)
    for token in _TOKEN.findall(text):
        if token.isspace() or token in _FREE or token in ",;，、/&+|":
            if token == ":" and reading.worded and reading.numbers:
                break  # “[Document 1: its title]”
            continue
        if reading.numbers and _PLACES.match(token):
            break
        if not reading.takes(token):
            return None
    if not reading.numbers or reading.ranged:
        return None
    return list(dict.fromkeys(reading.numbers)), reading.worded


class _MarkReading:
    """The part of a mark that was read so far.

    Attributes:
        numbers: numbers of documents.
        worded: whether a word such as “source” was read.
        ranged: whether the last token was a dash or “to”.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.worded = False
        self.ranged = False

    def takes(self, token: str) -> bool:
        """Read a number or word; return False if no mark has it there."""
        if token.isdecimal():
            return self._takes_number(token)
        if token.lower() in _RANGES and self.numbers:
            self.ranged = True
            return True
        if _DOCUMENTS.match(token):
            self.worded = True
            return True
        return bool(self.numbers) and token.isalpha() and len(token) <= 3

    def _takes_number(self, token: str) -> bool:
        if len(token) > 3 or token[0] == "0":
            return False
        number = int(token)
        if not self.ranged:
            self.numbers.append(number)
            return True
        first = self.numbers[-1]
        self.ranged = False
        self.numbers += range(first + 1, number + 1)
        return first <= number <= first + _WIDEST


def with_marks(text: str, shown: int = 0) -> str:
    """Return a sentence with all its marks written as `[1]`.

    Args:
        text: a sentence without code.
        shown: how many documents the model was shown. Numbers in round brackets and raised numbers are marks
            only within this range, at the end of a clause, and if the sentence has no other marks.
    """
    if not _ODD.search(text):
        return text
    text = _PAIR.sub(_pair, text)
    text = _EMPTY.sub("", _SINGLE.sub(_plain, text))
    text = _RAISED.sub(_raised, _LATEX.sub(_plain, text))
    text = _BRACKET.sub(_bracket, text)
    text = _WRAPPED.sub(lambda m: re.sub(r"[\s,;]+", "", m[1]), text)
    text = _LINKED.sub(r"\1", text)
    if _STRONG.search(text) or not shown:
        return text
    marked = _BRACKET.sub(lambda m: _weak(m, shown), text)
    if marked != text:
        return marked
    return _SUPERSCRIPT.sub(lambda m: _superscript(m, shown), text)


def pure(text: str) -> bool:
    """Return whether a text consists of marks only."""
    return re.fullmatch(r"(?:\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\])+\s*", with_marks(text)) is not None


def ends_behind(text: str, at: int) -> int | None:
    """Return where the marks behind a position end, or None while more text may complete one."""
    while True:
        if text[at - 1 : at] in ("]", "】"):
            link = _OPENED.match(text, at)
            if link is not None:
                if link.end() == len(text) and text[-1] != ")":
                    return None
                at = link.end()
        rest = text[at:]
        start = at + len(rest) - len(rest.lstrip(" \t"))
        window = text[start : start + _LONGEST]
        if not window or window[0] not in _STARTS:
            return at
        end = _first_mark_end(window)
        if not end:
            may_become_mark = len(window) < _LONGEST and _PENDING.match(window)
            return None if may_become_mark else at
        at = start + end


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
        while end - 1 > m.start() and window[end - 1] in "^$":
            end -= 1
            ends.append(end)
    return ends


def _marks(numbers: list[int]) -> str:
    """Return marks in plain form."""
    return "".join(f"[{n}]" for n in numbers)


def _plain(m: re.Match[str]) -> str:
    """Return a tag or LaTeX command as plain marks; other text as it is."""
    found = numbers_in(m[1])
    return m.group() if found is None else _marks(found[0])


def _pair(m: re.Match[str]) -> str:
    """Return a pair of tags as plain marks, unless it raises a power."""
    found = numbers_in(m[2].strip("[]()【】 "))
    if found is None:
        return m.group()
    may_raise = m[1].lower() in ("sup", "small", "span", "a")
    return m.group() if may_raise and _is_power(m) else _marks(found[0])


def _is_power(m: re.Match[str]) -> bool:
    """Return whether the text before a raised number makes it a power."""
    return _MEASURED.search(m.string[: m.start()]) is not None


def _raised(m: re.Match[str]) -> str:
    """Return a raised number as plain marks, unless it is a power."""
    found = numbers_in(m[1])
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
    """Return a round bracket as plain marks if it ends a clause and names shown documents only."""
    found = numbers_in(m[2])
    if found is None or not _all_shown(found[0], shown):
        return m.group()
    before = m.string[: m.start()]
    if not before.strip():
        return m.group()
    is_apart = not before[-1].isascii() or before[-1] in " \t.,;:!?\"')" or m[1] == "（"
    ends_clause = _ENDS_CLAUSE.match(m.string, m.end())
    return _marks(found[0]) if is_apart and ends_clause else m.group()


def _superscript(m: re.Match[str], shown: int) -> str:
    """Return raised digits as plain marks if they name shown documents only, and are no power."""
    numbers = [int(digits.translate(_DIGITS)) for digits in re.findall(r"[⁰¹²³⁴-⁹]+", m.group())]
    return m.group() if _is_power(m) or not _all_shown(numbers, shown) else _marks(numbers)


def _all_shown(numbers: list[int], shown: int) -> bool:
    """Return whether all numbers are those of shown documents."""
    return 1 <= min(numbers) and max(numbers) <= shown


_ODD = re.compile(r"[【〔［〖⟦(（{<^\\$⁰¹²³⁴-⁹]|\[(?!\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*\](?![(\]]))")
"""Matches in a sentence with marks that are not plain, or with other brackets."""
_STARTS = _OPENS + "<\\^$⁰¹²³⁴⁵⁶⁷⁸⁹"
_CLOSING = re.compile(rf"[{re.escape(_CLOSES)}>^$]+(?:\([^)\s]*\))?")
_LONGEST = 110
"""Characters that one mark may have."""
_LAST = re.compile(r"[(（{]\d{1,3}(?:\s*[,;]\s*\d{1,3})*[)）}](?=\s*(?:\n|\Z))")
"""Matches numbers in round brackets at the end of a line."""
_OPENED = re.compile(r"\((?:(?:https?:|[#/.])[^)\s]*\)|(?:https?:|[#/.])[^)\s]*\Z|h?t?t?p?s?\Z)")
"""Matches the target of a mark that is a link, or the beginning of one."""
_TRIES = 4
"""Closing brackets that are tried as the end of a mark."""
_PENDING = re.compile(
    r"\s*(?:\\?[\[【〔［〖⟦][^\]】〕］〗⟧\n]{0,100}"
    r"|[(（{]\s*[#^]?\s*[^\W\d_]{0,14}[.:#\s]*(?:[\[\]\d,;\s&–-]+(?:[^\W\d_]{1,3}\b)?)*"
    r"|</?(?:[a-z]{0,10}|[a-z]+[^<>\n]{0,60}|[a-z]+[^<>\n]{0,60}>[\s\[\d,;\]]{0,20}(?:</?\w{0,10})?)"
    r"|\\\w{0,16}\{?[\d,\s]*|\$|\$?\^\{?\[?[\d,\s-]*)\Z",
    re.I,
)
"""Matches what may become a mark with the text that follows."""
