"""Marks by which models cite: brackets, tags or raised numbers that hold nothing but numbers of documents."""

from __future__ import annotations

import re
from itertools import islice

_OPENS, _CLOSES = "[【〔［〖⟦(（{", "]】〕］〗⟧)）}"
_WEAK = "(（{"
"""Brackets that also hold other numbers than those of documents."""
_BRACKET = re.compile(
    rf"\\?([{re.escape(_OPENS)}])([^{re.escape(_OPENS + _CLOSES)}\n]{{1,100}})\\?[{re.escape(_CLOSES)}](\([^)\s]*\))?"
)
_WRAPPED = re.compile(r"[\[【(（]\s*(?:[^\W\d_]{2,12}[.:]?\s*)?((?:\s*[,;]?\s*\[\d{1,3}\])+)\s*[\]】)）]")
"""Marks in one more bracket, or behind a word in it: “(see [1])”."""
_LINKED = re.compile(r"\^?((?:\[\d{1,3}\])+)(?:\((?:https?:|[#/.])[^)\s]*\))?")
"""A mark that is raised, or opens something."""
_NAMED = r"cit(?:e|ation)s?|co|ref(?:erence)?s?|sources?|src|doc(?:ument)?s?|footnotes?|fn"
_PAIR = re.compile(rf"<(sup|a|small|span|{_NAMED})\b[^<>]{{0,60}}>([^<>\n]{{1,40}})</\1\s*>", re.I)
_SINGLE = re.compile(rf"</?(?:{_NAMED})[\s:_=-]*(?:\w+\s*=\s*)?[\"']?([\d,;\s]{{1,20}})[\"']?\s*/?>", re.I)
_EMPTY = re.compile(r"</?(?:co|cite|citation)s?\s*>", re.I)
_LATEX = re.compile(r"\\(?:cite\w*|footnote\w*|textsuperscript)\{([^{}\n]{1,20})\}")
_RAISED = re.compile(r"\$?(?<!\[)\^\{?\[?([\d,;\s-]{1,12})(?:\]\}?|\}|\^)\s*\$?")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴-⁹]{1,3}(?:\s?[,˒،]\s?[⁰¹²³⁴-⁹]{1,3})*")
_MEASURED = re.compile(r"(?:\d|(?<![^\W\d_])[^\W\d_]{1,3}|\))\$?\Z")
"""What a raised number is a power of: a number, or a short unit."""
_ENDS_CLAUSE = re.compile(r"\s*(?:[.,;:!?。，；：！？…)\]|]|\Z|\n|\[\d)")
_STRONG = re.compile(r"\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_DOCUMENTS = re.compile(
    r"(?:do[ck]u?ment\w*|do[ck]s?|sources?|src|ref(?:erence|erencia|erenz)?s?|réf(?:érence)?s?|cit(?:e|ed|ation|a|at)?s?"
    r"|passages?|evidence|excerpts?|snippets?|chunks?|context|texts?|items?|results?|footnotes?|notes?|fn|ids?|index"
    r"|quellen?|belege?|fuentes?|fontes?|fonti|bron(?:nen)?|käll(?:a|or)|kilder?|lähde|lähteet|źródł[oa]|zdroje?"
    r"|forrás|sursa|sursă|izvor|πηγή|kaynak|источник\w*|документ\w*|джерел[оа]|מקור|مصدر|المصدر|منبع|स्रोत|nguồn"
    r"|sumber|文档|文件|文献|来源|出处|资料|資料|文書|出典|参考|참고|출처|문서|แหล่งที่มา|pièces?|passagem|párrafo"
    r"|no|nr|num|number|nummer|número|numéro|see|siehe|vgl|cf|voir|ver|vedi|см)\.?\Z",
    re.I,
)
_PLACES = re.compile(
    r"(?:pp?|pages?|seiten?|s|lines?|l|sect?(?:ion)?|chars?|par(?:a|agraph)?s?|abs(?:atz)?|ch(?:apter)?|стр|页|段)\.?\Z",
    re.I,
)
"""Words before the number of a page or line within a document."""
_RANGES = frozenset({"-", "–", "—", "~", "to", "bis", "à", "do", "до", "至", "到"})
_WIDEST = 20
"""Documents of one range."""
_TOKEN = re.compile(r"\d+|[^\W\d_]+\.?|\s+|.")
_FREE = ":#.=№°_\"'^\\* "


def numbers_in(content: str) -> tuple[list[int], bool] | None:
    """Return the documents that a mark names, and whether by a word; None if it holds other text."""
    found: list[int] = []
    worded = ranged = False
    text = re.sub(r"(?::\d+)?†[^,;，、]*", "", content)
    for m in _TOKEN.finditer(text):
        token = m.group()
        if token.isspace() or token in _FREE or token in ",;，、/&+|":
            if token == ":" and worded and found:
                break  # “[Document 1: its title]”
            continue
        if token.isdigit():
            if len(token) > 3 or token[0] == "0":
                return None
            n = int(token)
            if ranged and found and not found[-1] <= n <= found[-1] + _WIDEST:
                return None
            found += range(found[-1] + 1, n + 1) if ranged and found else [n]
            ranged = False
        elif token.lower() in _RANGES and found:
            ranged = True
        elif found and _PLACES.match(token):
            break
        elif _DOCUMENTS.match(token):
            worded = True
        elif not (found and token.isalpha() and len(token) <= 3):
            return None
    return (list(dict.fromkeys(found)), worded) if found and not ranged else None


def with_marks(text: str, shown: int = 0) -> str:
    """Return a sentence whose marks are all written as `[1]`.

    Args:
        text: a sentence without code.
        shown: how many documents the model was shown. Numbers in round brackets and raised ones are marks
            only at the end of a clause, within this range, and if the sentence has no other marks.
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
    return marked if marked != text else _SUPERSCRIPT.sub(lambda m: _superscript(m, shown), text)


def pure(text: str) -> bool:
    """Tell whether a text is nothing but marks."""
    return bool(re.fullmatch(r"(?:\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\])+\s*", with_marks(text)))


def ends_behind(text: str, at: int) -> int | None:
    """Return where the marks end that follow a place; None while more text may complete one."""
    while True:
        if text[at - 1 : at] in ("]", "】") and (link := _OPENED.match(text, at)):
            if link.end() == len(text) and text[-1] != ")":
                return None
            at = link.end()
        start = at + len(text[at:]) - len(text[at:].lstrip(" \t"))
        window = text[start : start + _LONGEST]
        if not window or window[0] not in _STARTS:
            return at
        raised = _SUPERSCRIPT.match(window)
        ends = _closed_at(window)
        end = raised.end() if raised else next((e for e in ends if pure(window[:e])), 0)
        end = end or (last.end() if (last := _LAST.match(window)) else 0)
        if end:
            at = start + end
        else:
            return None if len(window) < _LONGEST and _PENDING.match(window) else at


def _closed_at(window: str) -> list[int]:
    """Return where a mark may end; a raised sign behind one may also begin the next, as in `^[1]^[2]`."""
    ends = []
    for m in islice(_CLOSING.finditer(window), _TRIES):
        ends.append(m.end())
        if len(m.group()) > 1 and m.group()[-1] in "^$":
            ends.append(m.end() - 1)
    return ends


def _marks(numbers: list[int]) -> str:
    return "".join(f"[{n}]" for n in numbers)


def _plain(m: re.Match[str]) -> str:
    found = numbers_in(m[1])
    return m.group() if found is None else _marks(found[0])


def _pair(m: re.Match[str]) -> str:
    found = numbers_in(m[2].strip("[]()【】 "))
    if found is None or (
        m[1].lower() in ("sup", "small", "span", "a") and _MEASURED.search(m.string[: m.start()])
    ):
        return m.group()
    return _marks(found[0])


def _raised(m: re.Match[str]) -> str:
    found = numbers_in(m[1])
    return m.group() if found is None or _MEASURED.search(m.string[: m.start()]) else _marks(found[0])


def _bracket(m: re.Match[str]) -> str:
    found = numbers_in(m[2])
    if found is None or (m[1] in _WEAK and not found[1]):
        return m.group()
    link = m[3] or ""
    return _marks(found[0]) + (link if link and m[1] in _WEAK else "")


def _weak(m: re.Match[str], shown: int) -> str:
    found, before = numbers_in(m[2]), m.string[: m.start()]
    names = found is not None and all(1 <= n <= shown for n in found[0])
    apart = before.strip() and (not before[-1].isascii() or before[-1] in " \t.,;:!?\"')" or m[1] == "（")
    ends = _ENDS_CLAUSE.match(m.string, m.end())
    return _marks(found[0]) if found is not None and names and apart and ends else m.group()


def _superscript(m: re.Match[str], shown: int) -> str:
    numbers = [int(n.translate(_DIGITS)) for n in re.findall(r"[⁰¹²³⁴-⁹]+", m.group())]
    power = _MEASURED.search(m.string[: m.start()])
    return m.group() if power or not all(1 <= n <= shown for n in numbers) else _marks(numbers)


_ODD = re.compile(r"[【〔［〖⟦(（{<^\\$⁰¹²³⁴-⁹]|\[(?!\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*\](?![(\]]))")
"""What a sentence has whose marks are not all plain, or that has other brackets."""
_STARTS = _OPENS + "<\\^$⁰¹²³⁴⁵⁶⁷⁸⁹"
_CLOSING = re.compile(rf"[{re.escape(_CLOSES)}>^$]+(?:\([^)\s]*\))?")
_LONGEST = 110
"""Characters of one mark."""
_LAST = re.compile(r"[(（{]\d{1,3}(?:\s*[,;]\s*\d{1,3})*[)）}](?=\s*(?:\n|\Z))")
"""Numbers in round brackets behind the last sentence of a line."""
_OPENED = re.compile(r"\((?:(?:https?:|[#/.])[^)\s]*\)|(?:https?:|[#/.])[^)\s]*\Z|h?t?t?p?s?\Z)")
"""What a mark opens, or what may become that."""
_TRIES = 4
"""Closing brackets up to which a mark may reach."""
_PENDING = re.compile(
    r"\s*(?:\\?[\[【〔［〖⟦][^\]】〕］〗⟧\n]{0,100}"
    r"|[(（{]\s*[#^]?\s*[^\W\d_]{0,14}[.:#\s]*(?:[\[\]\d,;\s&–-]+(?:[^\W\d_]{1,3}\b)?)*"
    r"|</?(?:[a-z]{0,10}|[a-z]+[^<>\n]{0,60}|[a-z]+[^<>\n]{0,60}>[\s\[\d,;\]]{0,20}(?:</?\w{0,10})?)"
    r"|\\\w{0,16}\{?[\d,\s]*|\$|\$?\^\{?\[?[\d,\s-]*)\Z",
    re.I,
)
"""What may become a mark with the text that follows."""
