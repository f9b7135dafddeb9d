"""Labels before an answer or a query: models translate those of our prompts, or set them as headings."""

from __future__ import annotations

import re

_BEFORE = (  # languages in which “final” stands before the noun
    r"answer|antwort|antwoord|svar|vastaus|odpowied[źz]|odpověď|odpoveď|odgovor|válasz|atsakymas|atbilde|vastus"
    r"|ответ|відповідь|отговор|одговор|απάντηση|cevap|yanıt|उत्तर|जवाब|উত্তর"
)
_BEHIND = (
    r"respuesta|réponse|resposta|risposta|răspuns(?:ul)?|resposta|jawaban|câu trả lời|trả"
    r" lời|(?:ال)?إجابة|(?:ال)?جواب"
    r"|پاسخ|תשובה|คำตอบ"
)
_UNSPACED = r"(?:最终|最後の?|最終(?:的な?)?|最后的?)?(?:答案|回答|答え|答复)|(?:최종 ?)?(?:답변|답|대답)"
_SEARCH = (
    r"query|search"
    r" query|suchanfrage|suche|anfrage|requête|recherche|consulta|búsqueda|pesquisa|ricerca|zoekvraag"
    r"|zoekopdracht|sökfråga|søgning|haku|zapytanie|dotaz|keresés|запрос|запит|заявка|αναζήτηση|sorgu|arama"
    r"|استعلام|بحث|שאילתה|查询|查詢|検索|クエリ|쿼리|검색|truy vấn|คำค้น|kueri|पूछताछ|खोज"
)
_WORD = r"[^\s\d:：#*_`.,;!?()\[\]]{1,20}"  # a letter of Devanagari may be no word character
_ANSWER = rf"(?:{_WORD} ){{0,2}}(?:{_BEFORE})|(?:{_BEHIND})(?: {_WORD}){{0,2}}|{_UNSPACED}"


def _line(label: str) -> re.Pattern[str]:
    """Return what finds a label at the begin of a line: with a colon, or alone as a heading or in bold."""
    begin = r"^[^\S\n]*(?:>[^\S\n]*)?"
    colon = rf"(?:#{{1,6}}[^\S\n]*)?[*_`]*(?:{label})[*_`]*[^\S\n]*[:：][*_`]*"
    alone = rf"(?:#{{1,6}}[^\S\n]*[*_]*(?:{label})[*_]*|(?:\*\*|__)(?:{label})(?:\*\*|__))[^\S\n]*(?=\n)"
    return re.compile(rf"{begin}(?:{colon}|{alone})[^\S\n]*", re.I | re.M)


_ANSWERS, _QUERIES = _line(_ANSWER), _line(_SEARCH)


def in_english(turn: str) -> str:
    """Return a turn without a known label with its labels in other words named as our prompts name them."""
    if turn.lstrip()[:1] in ("{", "["):
        return turn
    if _ANSWERS.search(turn):
        return _ANSWERS.sub("Final Answer: ", turn, count=1)
    return _QUERIES.sub("Query: ", turn)


def named_otherwise(turn: str, since: int) -> bool:
    """Tell whether a line that begins at `since` or later has a label of an answer in other words."""
    return turn.lstrip()[:1] not in ("{", "[") and _ANSWERS.search(turn, since) is not None


def labelled(text: str) -> bool:
    """Tell whether a turn begins with a label of an answer."""
    return _ANSWERS.match(text.lstrip()) is not None


def unlabelled(text: str) -> str:
    """Return the first sentence of an answer without a label before it."""
    head = len(text) - len(text.lstrip())
    found = _ANSWERS.match(f"{text[head:]}\n")
    return text if found is None else text[:head] + text[head + found.end() :].lstrip()
