"""Read the numbers of documents in the content of a bracket."""

from __future__ import annotations

import re
import unicodedata

from ragweave.models.text import STOP

_NOUN = (
    r"(?:do[ck]u?ment\w*|docs?|sources?|passages?|evidence|excerpts?|snippets?|chunks?|extracts?"
    r"|textstellen?|quellen?|fuentes?|fontes?|fonti|bron(?:nen)?|källa|kilde|źródło|kaynak|belge"
    r"|источник\w*|документ\w*|джерел[оа]|(?:ال)?مصدر|(?:ال)?مستند|(?:ال)?وثيقة|स्रोत|दस्तावेज़?"
    r"|文档|文件|文献|来源|來源|资料|資料|文書|출처|문서|자료)"
)
"""Matches a word for a document or source, which may name one with its number in a sentence."""
NOUN = re.compile(rf"\b{_NOUN}\b", re.I)
_DOCUMENTS = re.compile(
    rf"(?:{_NOUN}|doks?|src|ref(?:erence|erencia|erenz)?s?|réf(?:érence)?s?"
    r"|cit(?:e|ed|ing|ation|a|at)?s?|arti[ck]\w{1,4}"
    r"|context|texts?|items?|results?|footnotes?"
    r"|notes?|fn|ids?|index|files?|quotes?|links?|web|knowledge"
    r"|belege?|källor|kilder|lähde|lähteet|źródła|zdroje?"
    r"|forrás|sursa|sursă|izvor|πηγή|מקור|מסמך|(?:ال)?مرجع|منبع|سند|nguồn|tài|liệu"
    r"|sumber|dokumen|(?:文档|文件|文献|来源|來源|出处|资料|資料|文書|出典|参考|参见|參見|参照|引用|注释|注|より|見|见|据|根据){1,3}"
    r"|(?:참고|출처|문서|참조)|자료|แหล่งที่มา|เอกสาร|pièces?|passagem|párrafo"
    r"|see|siehe|vgl|cf|voir|ver|vedi|laut|selon|según|см)\.?\Z",
    re.I,
)
_LISTED = re.compile(rf"(?:{_NOUN}|r[eé]f\w*|cit[eai]\w*|bibliogra\w*|参考文献|参考|出典)\Z", re.I)
"""Matches a word in the heading of a list of sources."""
_NUMBERED = re.compile(r"(?:n[°º]?|no|nr|num|number|nummer|número|numéro)\.?\Z", re.I)
PLACE = (
    r"(?:pp?|pages?|seiten?|s|lines?|l|sect?(?:ion)?|chars?|par(?:a|agraph)?s?|abs(?:atz)?"
    r"|ch(?:apter)?|стр|页|段|第|§+)\.?\s*\d"
)
"""Matches the number of a page or line within a document, with its word; also a time in a recording."""
_PLACE = re.compile(rf"(?<=\d)(?:[\s,;:(]*{PLACE}|\s*[\s,;@(]\s*(?:\d{{1,2}}:)?\d{{1,2}}:\d\d)[^;；]*", re.I)
_NO_LIST = re.compile(r"\d[.:]\d")
"""Matches numbers that are no list: a fraction, a time, a score."""
_RANGES = frozenset({"-", "–", "—", "~", "to", "bis", "à", "do", "до", "至", "到"})
_WIDEST = 20
"""Documents that one range may span."""
_VOWELS = r"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]"
"""Matches a sign that is part of a word and no letter, such as a vowel of Devanagari."""
_TOKEN = re.compile(rf"\d+|[^\W\d_](?:[^\W\d_]|(?!\d){_VOWELS})*\.?|\s+|.")
_FREE = "#.№°º_\"'^\\* ()（）"
_LISTS = ",;،؛，、&|"
_DOTS = re.compile(r"(?<=\d)\s*(?:…|\.{2,3})\s*(?=\d)")
_TITLED = re.compile(r"\s*(\d{1,3})(?:\s*(?::\s|\s[-–—]\s)\s*[^\W\d]|\s?[,|]\s[^\W\d]{2}\D*\Z)")
"""Matches a number before the title of its document."""
_AND = re.compile(r"(?<=\d)\s*\b(?:and|und|et|y|e|och|og|en|i|и|و|和|与|と)\b\s*(?=\d)")
MENTION = re.compile(
    rf"(?<![^\W_\u2e80-\u9fff\uac00-\ud7af])(?<![“\"'«‘„]){_NOUN}\s?(?:(?:n[°º]|no\.|nr\.|#)\s?)?"
    r"(?P<numbers>\d{1,2}(?:(?:\s?[,，、&]\s?|\s?\b(?:and|und|et|y|e|och|og|en|i|и|و|和|与|と)\b\s?)"
    r"\d{1,2})*)(?![\w.,:%-]*\d)(?![”\"'»’])",
    re.I,
)
"""Matches documents that a sentence names by number: “Document 1”, “sources 1 and 3”."""
_NO_NUMBERS = re.compile(rf"[^\d\s{_LISTS}#^–-]")
_FEW = 4
"""Most words before that of a document: “according to Document 1”."""


def numbers_in(content: str) -> tuple[list[int], bool] | None:
    """Return the documents that a mark names, and whether a word names them; None if it is other text."""
    text = _DOTS.sub("-", re.sub(r"(?::\d+)?†[^,;，、]*", "", plain_digits(content)))
    text = _PLACE.sub("", re.sub(r"^\s*[@A-Zsdp]-?(?=\d{1,3}\s*\Z)", "", text))
    if _NO_LIST.search(text):
        return None
    titled = _TITLED.match(text)
    if titled is not None:
        text = titled[1]
    reading = _MarkReading()
    for token in _TOKEN.findall(text):
        if reading.numbers and reading.worded and token == ":":
            break  # “[Document 1: its title]”
        if not reading.takes(token):
            return None
    if not reading.numbers or reading.open or (reading.words and not reading.worded):
        return None
    return list(dict.fromkeys(reading.numbers)), reading.worded


def bare_numbers(content: str) -> list[int]:
    """Return the documents that a mark of numbers alone names, such as “(1, 2)”; [] for other text."""
    text = _AND.sub(",", plain_digits(content))
    found = None if _NO_NUMBERS.search(text) else numbers_in(text)
    return found[0] if found else []


def leads_to_a_mark(words: str) -> bool:
    """Return whether words before a mark are no text without it: “see”, “as stated in”, “Source:”."""
    found = re.findall(r"[^\W\d_]+", words)
    if not found:
        return True
    last = found[-1]
    return len(found) <= _FEW + 1 and (last.lower() in STOP or _DOCUMENTS.match(last) is not None)


def names_documents(words: str) -> bool:
    """Return whether words only name documents: “Sources:”, “The references”."""
    found = re.findall(r"[^\W\d_]+", words)
    return 0 < len(found) < _FEW and any(map(_LISTED.match, found))


def plain_digits(text: str) -> str:
    """Return a text with raised and circled digits as plain ones.

    >>> plain_digits("¹²③")
    '123'
    """
    if text.isascii():
        return text
    plain = ""
    for sign in text:
        digit = unicodedata.digit(sign, None) if unicodedata.category(sign) == "No" else None
        plain += sign if digit is None else str(digit)
    return plain


class _MarkReading:
    """The part of a mark that was read so far.

    Attributes:
        numbers: numbers of documents.
        words: words before the first number that name no document.
        worded: whether a word such as “source” was read.
        ranged: whether the last token was a dash or “to”.
        joined: whether the last token was a word between numbers: “1 and 2”.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.words = 0
        self.worded = self.ranged = self.joined = False

    @property
    def open(self) -> bool:
        """Whether another number has to follow."""
        return self.ranged or self.joined

    def takes(self, token: str) -> bool:
        """Read a token; return False if no mark has it there."""
        if token.isspace() or token in _FREE or _NUMBERED.match(token):
            return True
        if token in _LISTS or token in ":：=/-":
            return bool(self.numbers or self.worded) and self._takes_sign(token)
        if token.isdecimal():
            return self._takes_number(token)
        if token.lower() in _RANGES and self.numbers:
            self.ranged = True
            return True
        if _DOCUMENTS.match(token):
            self.worded, self.joined = True, bool(self.numbers)
            return True
        return self._takes_word(token)

    def _takes_sign(self, sign: str) -> bool:
        self.ranged = self.ranged or (sign == "-" and bool(self.numbers))
        return True

    def _takes_word(self, word: str) -> bool:
        if self.numbers:
            self.joined = True
            return len(word) <= 3 and word.isalpha()
        self.words += 1
        return self.words <= _FEW and word[0].isalpha()

    def _takes_number(self, token: str) -> bool:
        if len(token) > 3 or int(token[0]) == 0:
            return False
        number = int(token)
        ranged, self.ranged, self.joined = self.ranged, False, False
        if not ranged:
            self.numbers.append(number)
            return True
        first = self.numbers[-1]
        self.numbers += range(first + 1, number + 1)
        return first < number <= first + _WIDEST
