"""Words, sentences and names in running text, for scripts with and without spaces.

Everything that counts or compares words in Ragweave uses these functions, so that the lexical index, the
relevance features and the checks agree on what a word is.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import Stemmer

from ragweave.models.calendar import ENGLISH, NUMBER_WORDS
from ragweave.models.irregular_forms import BASE_OF_FORM
from ragweave.models.signs import without_signs

_CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0002fa1f"
_THAI = "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
UNSPACED = f"{_CJK}{_THAI}"
"""Character-class body of the scripts that are written without spaces between words (Hangul included)."""

UNSPACED_LETTER = re.compile(rf"[{UNSPACED}]")
_TOKEN = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:[.,'’·-][^\W_{UNSPACED}]+)*")
_INNER = re.compile(r"[.,'’·-]")
_NUMBERISH = re.compile(r"\d[\d.,]*\d|\d")

STOP = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between
    both but by can could did do does doing done down during each few for from further get had has have
    having he her here hers him his how i if in into is it its itself just me more most my no nor not now
    of off on once only or other our out over own same she should so some such than that the their them
    then there these they this those through to too under until up us very was we were what when where
    which while who whom whose why will with would you your s t d ll re ve m please tell give name many
    much overview describe summarise summarize summary explain""".split()
)
"""English function words and words that only ask; they are left out if only content counts."""

_DENIED = frozenset(
    "isn aren wasn weren don doesn didn hasn haven hadn won wouldn shouldn couldn mustn needn".split()
)
"""Words before “n't”; some of them are content words when they occur alone."""
STOP_CJK = frozenset(
    "的 了 是 在 和 与 及 吗 呢 吧 么 什么 怎么 哪 哪个 哪些 谁 为什么 多少 有 我 你 他 她 它 这 那".split()
)


class _Stemmer(threading.local):
    """A stemmer for each thread, because a stemmer stores the word that it works on."""

    def __init__(self) -> None:
        self.stem = Stemmer.Stemmer("english", 0).stemWord


_stemmer = _Stemmer()


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the English stem of a lower-cased word; words with digits or other scripts stay as they are."""
    word = BASE_OF_FORM.get(word, word)
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    return str(_stemmer.stem(word))


def fold(text: str) -> str:
    """Normalise width, case and accents, so that equal words compare equal.

    Signs that are attached to words are removed.
    """
    if text.isascii():
        return text.lower()
    text = without_signs(text)
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    for mark in filter(unicodedata.combining, set(plain)):
        plain = plain.replace(mark, "")
    return unicodedata.normalize("NFKC", plain).casefold()


def words(text: str) -> list[str]:
    """Split folded text into words; runs of unspaced scripts become overlapping character pairs.

    >>> words("RRF's k=60, 知识图谱")
    ['rrf', 's', 'k', '60', '知识', '识图', '图谱']
    """
    found: list[str] = []
    for token in _TOKEN.findall(fold(text)):
        found += _parts(token)
    return found


@lru_cache(maxsize=20_000)
def _parts(token: str) -> tuple[str, ...]:
    """Return the words of a folded token. Cached, because texts repeat their tokens."""
    if token.isascii() and token.isalpha():
        return (token,)
    if UNSPACED_LETTER.match(token):
        if len(token) == 1:
            return (token,)
        return tuple(token[i : i + 2] for i in range(len(token) - 1))
    if _NUMBERISH.fullmatch(token):
        return (token.replace(",", ""),)
    return tuple(filter(None, _INNER.split(token)))


@lru_cache(maxsize=20_000)
def _stems(token: str) -> tuple[str, ...]:
    return tuple(map(stem, _parts(token)))


def storable(text: str) -> str:
    """Replace lone surrogates, which cannot be stored or printed; offsets do not change."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def terms(text: str) -> list[str]:
    """Return index terms: stemmed words with stop words, which BM25 gives little weight."""
    found: list[str] = []
    for token in _TOKEN.findall(fold(text)):
        found += _stems(token)
    return found


def content_terms(text: str) -> list[str]:
    """Return distinct stemmed words that carry content, in order of appearance."""
    seen: dict[str, None] = {}
    found = words(text)
    for n, w in enumerate(found):
        denied = w in _DENIED and found[n + 1 : n + 2] == ["t"]  # “shouldn't”
        if w not in STOP and w not in STOP_CJK and not denied:
            seen.setdefault(stem(w))
    return list(seen)


_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs etc e.g i.e fig figs no nos vol pp ed eds al inc ltd co corp jr sr gen col capt"
    " lt sgt rev hon approx dept est jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m ph.d"
    " cf ca".split()
)
_ENDING = frozenset("a.m p.m etc inc ltd co corp jr sr u.s u.k ph.d".split())
"""Abbreviations that end a sentence if a capitalised function word follows."""
_FIRST_WORD = re.compile(r"\s+([A-ZÀ-ÖØ-Þ]\w*)")
_SENTENCE_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$))|(?:[。"
    r"！？｡]+[」』”’）]*)|(?:\n\s*\n)|(?:\n(?=\s*(?:[-*•]|\d+[.)])\s))"
)


_QUOTED_END = re.compile(r"[!?][\"”’'»]+$")
_SMALL_LETTER = re.compile(r"[ \t]+[a-zà-öø-ÿ]")
_AFTER_ORDINAL = re.compile(
    r"[ \t]+(?:[a-zà-öø-ÿ]|(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-z]*\b)"
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Return [start, end) of each sentence without the white space around it.

    Together the spans cover all other characters. A full stop after an initial or a common abbreviation does
    not end a sentence. Neither does the end of a quotation if a small letter follows. List items and blank
    lines end a sentence.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for m in _SENTENCE_END.finditer(text):
        if m.group().startswith(".") and _is_abbreviation(text, start, m.start(), m.end()):
            continue
        if _QUOTED_END.search(m.group()) and _SMALL_LETTER.match(text, m.end()):
            continue
        spans += trimmed(text, start, m.end())
        start = m.end()
    return spans + trimmed(text, start, len(text))


def trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return [start, end) without the white space at its ends; no span if there is nothing else."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [(start, end)] if end > start else []


def _is_abbreviation(text: str, start: int, dot: int, after: int) -> bool:
    before = text[max(start, dot - 12) : dot].split()
    word = before[-1].lstrip("(\"'“[") if before else ""
    last = word.lower()
    if last in _ABBREVIATIONS or (len(word) == 1 and word.isupper()):
        numeral = word in "IVX" and len(before) > 2 and before[-3][:1].isupper() and before[-2][:1].isupper()
        opens = _FIRST_WORD.match(text, after) if last in _ENDING or last not in _ABBREVIATIONS else None
        # “World War I. Italy declared”, “at 5 p.m. The ship”
        return opens is None or not (fold(opens[1]) in STOP or (numeral and text[dot] == "."))
    if re.fullmatch(r"(?:[a-z]\.)+[a-z]", last):
        rest = text[after:].lstrip()
        return bool(rest) and not rest[0].isupper()
    # Ordinals in German and similar languages: “am 14. Juni”, “der 3. und 4. Band”.
    return bool(re.fullmatch(r"\d{1,2}", last) and text[dot] == "." and _AFTER_ORDINAL.match(text, after))


_CAP = r"[A-ZÀ-ÖØ-ÞŠŽČĆĐŁŚŻŹ][\w’'&-]*"
_LINK = r"of|the|de|la|van|von|der|du|&|al|bin|di|da|del"
_NAME = re.compile(
    rf"(?:{_CAP}|\d+[A-Z]\w*)"
    rf"(?:(?:\s+(?:{_LINK})){{0,2}}\s+(?:{_CAP}|\d{{1,4}}\b)|(?<=\b[A-Z])\.\s?{_CAP}|,?\s+(?:Jr|Sr)\.)*"
)
_QUOTED = re.compile(r"[\"“«「『《]([^\"”»」』》\n]{2,80})[\"”»」』》]")
_NOT_NAMES = frozenset(
    """the a an in on at of for and or but if when where who what which why how is are was were do does did it
    its this that these those there he she they we you i his her their our my as by to from with after
    before during since while although however also both each one two three first second most many some
    such no not yes can has have had will would could should be been being according because then than so
    into over under about between against per via besides apart unlike name tell compare summarise
    summarize list show find give explain describe please until since today yesterday tomorrow later
    meanwhile despite following early late mid circa""".split()
)
_ALONE = frozenset(
    """above across all almost along already always among another anybody anyone anything around away back
    behind below beneath beside between beyond double down either elsewhere enough even ever everybody
    everyone everything everywhere except few half hence here inside instead just last least less
    moreover more much near neither never next nor nothing now nowhere off often once only onto opposite
    other otherwise out outside past perhaps quite rather round several somebody someone something
    sometimes somewhere soon still therefore third through throughout thus together too towards twice
    underneath unless up usually very well whatever whether within without yet your""".split()
)
"""Words that are no name alone when they open a sentence, though a name may begin with them: “All Saints”."""
_ADVERB = re.compile(r"(?:al|ous|ent|ant|iv|ed|ar|at|ing)e?ly$")


@lru_cache(maxsize=3_000)
def names(text: str) -> tuple[str, ...]:
    """Return proper names and quoted titles in order of appearance, without duplicates.

    A capitalised word that only opens a sentence counts when it is not a function word. Scripts without case
    contribute quoted and bracketed titles only.
    """
    found: dict[str, str] = {}
    quoted = list(_QUOTED.finditer(text))
    for q in quoted:
        found.setdefault(fold(q.group(1)), q.group(1).strip())
    for m in _NAME.finditer(text):
        parts = m.group().strip(" ,.").split()
        while parts and fold(parts[0]).strip(".,") in _NOT_NAMES:
            parts = parts[1:]
        while parts and (fold(parts[-1]).strip(".,") in _NOT_NAMES):
            parts = parts[:-1]
        name = re.sub(r"['’]s?$", "", " ".join(parts)).strip(" ,.'’")
        if len(name) < 2 or _is_date(name) or _is_adverb(name) or _is_inside(m, quoted):
            continue
        found.setdefault(fold(name), name)
    return tuple(found.values())


def _is_adverb(name: str) -> bool:
    return " " not in name and bool(_ADVERB.search(name) or fold(name) in _ALONE)


def _is_date(name: str) -> bool:
    """Return whether all words are digits or English names of months and days."""
    for word in name.split():
        if not word.isdigit() and fold(word) not in ENGLISH:
            return False
    return True


def _is_inside(found: re.Match[str], quoted: Sequence[re.Match[str]]) -> bool:
    """Return whether a match lies within one of the quotations."""
    for quotation in quoted:
        if quotation.start() < found.start() and found.end() < quotation.end():
            return True
    return False


def counted(n: int, noun: str) -> str:
    """Write a count with its noun: `1 file`, `3 files`."""
    return f"{n:,} {noun if n == 1 else noun + 's'}"


_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|%)?")


def numbers(text: str) -> list[str]:
    """Return the numbers of a text in canonical form.

    Thousands separators and ordinal endings are dropped, and number words up to twenty become digits; “one”
    and “zero” stay words, because they seldom count anything.
    """
    out: list[str] = []
    for m in _NUMBER.finditer(text):
        n = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", m.group()).replace("−", "-")
        n = re.sub(r"(?<=\d),(?=\d{3}\b)", "", n)
        out.append(n)
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in NUMBER_WORDS and word not in ("one", "zero"):
            out.append(str(NUMBER_WORDS[word]))
    return out


def script(text: str) -> str:
    """Return the script of most letters, such as latin, han, kana, hangul or cyrillic, or ''."""
    if text.isascii():
        return "latin" if any(map(str.isalpha, text)) else ""
    counts: Counter[str] = Counter()
    for c, times in Counter(text).items():
        if c.isalpha():
            counts[_script_of(c)] += times
    return max(counts, key=lambda k: counts[k]) if counts else ""


@lru_cache(maxsize=20_000)
def _script_of(c: str) -> str:
    name = unicodedata.name(c, "")
    for key, label in (("CJK", "han"), ("HIRAGANA", "kana"), ("KATAKANA", "kana"), ("HANGUL", "hangul")):
        if name.startswith(key):
            return label
    return name.split(" ")[0].lower() if name else ""


def clip(text: str, limit: int) -> str:
    """Cut at a word end so that the result, with its ellipsis, has at most `limit` characters."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"


def clock(at: float) -> str:
    """Write seconds as a player shows them: 0:07, 12:31, 1:02:03."""
    whole = int(at)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
