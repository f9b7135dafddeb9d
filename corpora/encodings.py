"""Detect the old one-byte or East Asian encoding of a text by its letters.

Western European (Windows-1252) is the default; another encoding wins only if its letters are clearly more
words of a language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ragweave.corpora.meta import FUNCTION_WORDS

WESTERN = "cp1252"
_SAMPLE = 32 * 1024
"""Largest number of bytes to read, from lines with bytes above 127."""
_LINE, _BEFORE = 4000, 200
"""Bytes of one of these lines after its first high byte, and before it."""
_HIGH = re.compile(rb"[\x80-\xff][^\n]*")
_TOKEN = re.compile(rb"[A-Za-z\x80-\x9f\xa1-\xff]{2,}")
_WORD = re.compile(r"[A-Za-z\x80-\U0010ffff]+")
_PART = re.compile(r"[’‘–—…·\xa0\xad]")
"""Signs between two words, or inside one, without a space."""
_OPENS, _CLOSES = "«“„‘‹–—•§©£€¡¿\xa0", "»”’›–—…°²³ªº€™®\xa0"
"""Signs right before a word, and right after it."""
_AROUND = _OPENS + _CLOSES + "‚·†‡¥¤±×÷¹¼½¾‰\xad"
_ENDS = frozenset("»”’…")
_SIGN_BYTES = _AROUND.encode(WESTERN)
_ABOVE = bytes(range(128, 256))
_OTHER_SCRIPT, _LATIN = 0.6, 0.75
"""Smallest share of high bytes in words of other scripts, and largest share in Latin words."""
_SURE = 0.3
"""Smallest mean score of the characters of another script."""
_AHEAD = 1.0
"""Smallest lead of another Latin encoding: a unit such as `m³` has a letter in some of them."""
_MOST_WORDS = 6


class _Language(NamedTuple):
    """A language: its letters apart from a to z, those that only end a word, and frequent words."""

    encodings: tuple[str, ...]
    letters: frozenset[str]
    final: frozenset[str]
    words: frozenset[str]


_WEST = (WESTERN, "iso8859-15", "cp850", "mac_roman")
_CENTRAL = ("cp1250", "iso8859-2", "cp852")
_BALTIC = ("cp1257",)
_TURKISH = ("cp1254", "cp857")
_LATIN_SCRIPT = (
    (_WEST, "en", "éèïöñçêâü", "", ""),
    (_WEST, "de", "äöüßé", "", "für über können müssen während"),
    (_WEST, "fr", "éèêëâçîïôûœ", "àù", "à été être où même très déjà après"),
    (_WEST, "es", "áéíóúñü", "", "más está año también qué según días"),
    (_WEST, "pt", "ãõçáéíóúâêô", "à", "não são está também até você mês três é"),
    (_WEST, "it", "é", "àèìòù", "è più perché può già così sarà"),
    (_WEST, "nl", "ëïéèöüáó", "", "één vóór"),
    (_WEST, "sv fi", "åäöé", "", "och att det som på är för till av inte från också ja on ei että myös"),
    (_WEST, "da no", "æøåé", "", "og det som på er for til av ikke fra også være år"),
    (_WEST, "is", "áðéíóúýþæö", "", "og að það er sem við með til fyrir ekki"),
    (_WEST, "ca", "àèéíïòóúüç", "", "que els les amb per és això més també"),
    (_WEST, "et", "äõöüšž", "", "ja on ei see et kui või"),
    (
        _CENTRAL,
        "pl",
        "ąćęłńóśźż",
        "",
        (
            "nie na jest do to jak ale co dla od po za się że są być będzie także też więc który która które"
            " są już może można jeśli przez między było była był proszę ą"
        ),
    ),
    (
        _CENTRAL,
        "cs",
        "áčďéěíňóřšťúůýž",
        "",
        (
            "na je se to do od ve pro ale jak že při být není který která které jsou může více též až když"
            " před dne prosím"
        ),
    ),
    (
        _CENTRAL,
        "sk",
        "áäčďéíĺľňóôŕšťúýž",
        "",
        "na je sa to do od vo pre ale ako že pri byť nie ktorý ktorá sú môže keď",
    ),
    (_CENTRAL, "hu", "áéíóöőúüű", "", "hogy nem egy az van is ez meg ha és már még ő idő új között"),
    (_CENTRAL, "hr sl", "čćđšž", "", "je na se za da su ali kao in ki pri što će može već koji če več"),
    (_CENTRAL, "ro", "ăâîşţ", "", "de la cu nu pe din este care şi în să că până după fără"),
    (_TURKISH, "tr", "çğıöşüâİ", "", "ve bir bu da de ile var için çok değil daha kadar saat yarın"),
    (_BALTIC, "lt", "ąčęėįšųūž", "", "ir yra kad bet tai į su iš už taip"),
    (_BALTIC, "lv", "āčēģīķļņšūž", "", "un ir ka ar no kā arī šo bet"),
)
_CHINESE = (
    "一二三四五六七八九十日月年上下大小中人我你他在有的是不了和也到地出生方前天子自高心可"
    "本此或及明水文新好多但同名三期午由所用工力先王李"
)
_JAPANESE = (
    "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB))))
    + "ー一二三四五六七八九十日月年時分人大小中上下本会社金木水火土曜議田山川前後円"
)
_OTHER_SCRIPTS = (
    (("cp1251", "koi8-r", "cp866", "iso8859-5"), b"", "оеаинтсрвлкмдпуя"),
    (("cp1251", "koi8-u"), b"", "оаинвіетрлскумдпяєї"),
    (("cp1253", "iso8859-7"), b"", "αοιετσνηυρπκμλςάίόήέ"),
    (("cp1255",), b"", "יוהאלמרבתשנדםן"),
    (("cp1256", "iso8859-6"), b"", "ايلمنوترهةبعسدف"),
    (("cp874",), b"", "านรอกเงคมวลยทสตดปแ่้ัีิื"),
    (
        ("gb18030",),
        b"\xb0\xd7",
        _CHINESE
        + "这个们来时说国为会对于学过发动得里后么还经样当没点开问见业将实现应间头进关门车书长东电话无从两又与给"
        + "师张华北京海市路号日星请钱钥议性落引现象起潮汐周阳太主要员元额姓城金合同房租付费",
    ),
    (
        ("big5hkscs",),
        b"\xa4\xc6",
        _CHINESE
        + "這個們來時說國為會對於學過發動得裡後麼還經樣當沒點開問見業將實現應間頭進關門車書長東電話無從兩又與給"
        + "師張華北京海市路號星請錢鑰議性落引現象起潮汐週陽太主要員元額姓城金合同房租付費",
    ),
    (("cp932",), b"\x88\x97", _JAPANESE),
    (("euc_jp",), b"\xb0\xcf", _JAPANESE),
    (
        ("cp949",),
        b"\xb0\xc8",
        (
            "이다는의에을를은가고하한로지기어사아서리나자도있들인해일수시그대것정부과보라스여니게선장열오전원제구조주성상생동"
            "안년월화목금요문만으습때조무회했면었았없요우김박님세용우관"
        ),
    ),
)
"""Encodings of other scripts, the first bytes of characters in common use, and the most frequent characters.

The first bytes are a range; b"" if the character set does not separate common characters from rare ones.
"""
_PUNCTUATION = frozenset("。、，；：？！（）《》「」・\u3000")


def detect_encoding(data: bytes) -> str:
    """Return the encoding of a text that is not UTF-8, or "" if it is unclear."""
    sample = _sampled(data)
    if not sample.translate(None, _SIGN_BYTES + bytes(range(128))):
        return _latin(sample)  # dashes, quotes and the like alone
    high = _share_of_high(sample)
    if high >= _OTHER_SCRIPT:
        mean, name = _best_other(sample)
        if mean >= _SURE:
            return name
    return "" if high > _LATIN else _latin(sample)


def _share_of_high(sample: bytes) -> float:
    """Return the share of bytes above 127 in the different words that have any."""
    high = count = 0
    for word in set(_TOKEN.findall(sample)):
        if not word.isascii():
            high += len(word) - len(word.translate(None, _ABOVE))
            count += len(word)
    return high / (count or 1)


def _best_other(sample: bytes) -> tuple[float, str]:
    """Return the best mean of the encodings of other scripts, and the encoding."""
    means: list[tuple[float, str]] = []
    for names, common, often in _OTHER_SCRIPTS:
        for name in names:
            means.append((_mean(sample, name, common, often), name))
    return max(means)


def _sampled(data: bytes) -> bytes:
    """Return the parts of lines around their first byte above 127."""
    parts, size = [], 0
    for found in _HIGH.finditer(data):
        start = max(data.rfind(b"\n", 0, found.start()) + 1, found.start() - _BEFORE)
        parts.append(data[start : min(found.end(), found.start() + _LINE)])
        size += len(parts[-1])
        if size >= _SAMPLE:
            break
    return b"\n".join(parts)


def _mean(sample: bytes, encoding: str, common: bytes, often: str) -> float:
    """Return how well characters above 127 fit a language, from -1 to 1."""
    text = sample.decode(encoding, errors="replace")
    frequent = frozenset(often)
    score, count = 0.0, 0
    before = " "
    for character, after in zip(text, text[1:] + " ", strict=True):
        last, before = before, character
        if character <= "\x7f" or _is_sign(character, last, after):
            continue
        count += 1
        if not common:
            score += _fit_of_letter(character, last, after, frequent)
        elif character in frequent or character in _PUNCTUATION:
            score += 1
        else:
            score += _usual(character, encoding, common)
    return score / (count or 1)


def _is_sign(character: str, last: str, after: str) -> bool:
    """Return whether a character is a sign around words; between two letters some signs are wrong letters."""
    if character not in _AROUND:
        return False
    return character not in _ENDS or last.isalpha() or not after.isalpha()


def _fit_of_letter(character: str, last: str, after: str, frequent: frozenset[str]) -> float:
    """Return how well a character between two others fits an alphabet with some frequent letters."""
    if not character.isalpha() and character not in frequent:
        return -1
    if _is_ascii_letter(last) or _is_ascii_letter(after):
        return -1  # no word is in two alphabets
    if character.isupper() and last.islower():
        return -1
    if character.lower() not in frequent:
        return -0.5
    return 0.6 if character.isupper() else 1


def _is_ascii_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _usual(character: str, encoding: str, common: bytes) -> float:
    """Return the score of a character that is not among the most frequent: by its position in the set."""
    if not "\u3400" <= character <= "\ud7a3":
        return -0.5
    lead = character.encode(encoding, errors="replace")
    return 0.4 if len(lead) == 2 and common[0] <= lead[0] <= common[1] else -0.3


@cache
def _languages() -> tuple[_Language, ...]:
    """Return the languages in Latin script."""
    listed: list[_Language] = []
    for encodings, codes, letters, final, frequent in _LATIN_SCRIPT:
        words = FUNCTION_WORDS.get(codes, frozenset()) | set(frequent.split())
        listed.append(_Language(encodings, frozenset(letters + final), frozenset(final), words))
    return tuple(listed)


def _latin(sample: bytes) -> str:
    """Return the encoding whose words best fit one language; Western unless another is clearly ahead."""
    scores: dict[str, float] = {}
    texts: dict[str, tuple[list[str], set[str]]] = {}
    for language in _languages():
        for encoding in language.encodings:
            if encoding not in texts:
                texts[encoding] = _words(sample, encoding)
            score = _score(*texts[encoding], language)
            scores[encoding] = max(score, scores.get(encoding, score))
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best] > scores[WESTERN] + _AHEAD else WESTERN


def _words(sample: bytes, encoding: str) -> tuple[list[str], set[str]]:
    """Return the different words with characters above 127, and all words in small letters."""
    words = set(_WORD.findall(sample.decode(encoding, errors="replace")))
    return [word for word in words if not word.isascii()], set(map(str.lower, words))


def _score(odd: Iterable[str], words: set[str], language: _Language) -> float:
    """Return how well words fit a language; frequent words with characters above 127 count twice."""
    score = 0.0
    for word in odd:
        score += _fit(word, language)
    frequent = words & language.words
    accented = [word for word in frequent if not word.isascii()]
    return score + min(_MOST_WORDS, len(frequent)) / 2 + min(_MOST_WORDS, len(accented)) / 2


def _fit(word: str, language: _Language) -> float:
    """Return how well a word with high characters fits a language: 1, 0 if that is unclear, or less."""
    parts = _PART.split(word.strip(_AROUND))
    score = 0.0
    if len(word) > 1 and (len(parts) > 1 or word[0] in _OPENS or word[-1] in _CLOSES):
        score = 1.0
    for part in parts:
        core = part.strip(_AROUND)
        if core.isascii() or (len(core) == 1 and core.isalpha()):
            continue
        if not core.isalpha():
            return -2
        cased = core.islower() or core.isupper() or core.replace("İ", "I").istitle()
        if not cased or not _has_letters_of(language, core):
            return -1
        score = 1
    return score


def _has_letters_of(language: _Language, word: str) -> bool:
    """Return whether a language has all letters of a word, and has final letters only at its end."""
    for character in word:
        if character > "\x7f" and language.letters.isdisjoint((character, character.lower())):
            return False
    return language.final.isdisjoint(word[:-1].lower())
