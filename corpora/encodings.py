"""Which encoding a text is in whose bytes do not say it: old one-byte and East Asian ones, told by their letters.

Western European (Windows-1252) is the default; another encoding is taken only where its letters make clearly
more words of a language.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from ragweave.corpora.meta import FUNCTION_WORDS

WESTERN = "cp1252"
_SAMPLE = 32 * 1024
"""Bytes that are looked at, taken from lines that hold any above 127."""
_LINE, _BEFORE = 4000, 200
"""Bytes of one of these lines from its first high byte on, and before that."""
_HIGH = re.compile(rb"[\x80-\xff][^\n]*")
_TOKEN = re.compile(rb"[A-Za-z\x80-\x9f\xa1-\xff]{2,}")
_WORD = re.compile(r"[A-Za-z\x80-\U0010ffff]+")
_PART = re.compile(r"[’‘–—…·\xa0\xad]")
"""Signs that stand between two words, or inside one, without a space."""
_OPENS, _CLOSES = "«“„‘‹–—•§©£€¡¿\xa0", "»”’›–—…°²³ªº€™®\xa0"
"""Signs that touch the begin of a word, and its end."""
_AROUND = _OPENS + _CLOSES + "‚·†‡¥¤±×÷¹¼½¾‰\xad"
_ENDS = frozenset("»”’…")
_SIGN_BYTES = _AROUND.encode(WESTERN)
_ABOVE = bytes(range(128, 256))
_OTHER_SCRIPT, _LATIN = 0.6, 0.75
"""Share of high bytes in words that have any: Latin words have fewer than the second, those of others more than the
first."""
_SURE = 0.3
"""Least mean of the characters of another script."""
_AHEAD = 1.0
"""How much another Latin encoding must be ahead: one unit behind a number, as in `m³`, makes a letter of some other."""
_MOST_WORDS = 6


class _Language(NamedTuple):
    """How a language is written: letters beside a to z, those of them that only end a word, and frequent words."""

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
"""Encodings of scripts that are not Latin; the first bytes, from and to, of characters that are in common use, where
the character set keeps them apart from rare ones; and the most frequent characters of a language."""
_PUNCTUATION = frozenset("。、，；：？！（）《》「」・\u3000")


def told(data: bytes) -> str:
    """Return the encoding of a text that is not UTF-8, or "" where no language is made out and it is not Western."""
    sample = _sampled(data)
    tokens = [t for t in set(_TOKEN.findall(sample)) if not t.isascii()]
    high = sum(len(t) - len(t.translate(None, _ABOVE)) for t in tokens) / (sum(map(len, tokens)) or 1)
    if not sample.translate(None, _SIGN_BYTES + bytes(range(128))):
        return _latin(sample)  # dashes, quotes and the like alone
    if high >= _OTHER_SCRIPT:
        found = (
            (_mean(sample, n, common, often), n) for names, common, often in _OTHER_SCRIPTS for n in names
        )
        mean, name = max(found)
        if mean >= _SURE:
            return name
    if high > _LATIN and tokens:
        return ""
    return _latin(sample)


def _sampled(data: bytes) -> bytes:
    """Return the beginnings of the lines that hold bytes above 127, each from before its first one."""
    parts, size = [], 0
    for found in _HIGH.finditer(data):
        start = max(data.rfind(b"\n", 0, found.start()) + 1, found.start() - _BEFORE)
        parts.append(data[start : min(found.end(), found.start() + _LINE)])
        size += len(parts[-1])
        if size >= _SAMPLE:
            break
    return b"\n".join(parts)


def _mean(sample: bytes, encoding: str, common: bytes, often: str) -> float:
    """Return how well characters above 127 are those of a language, from -1 to 1."""
    text = sample.decode(encoding, errors="replace")
    frequent = frozenset(often)
    score, count = 0.0, 0
    before = " "
    for c, after in zip(text, text[1:] + " ", strict=True):
        last, before = before, c
        if c <= "\x7f" or (c in _AROUND and not (c in _ENDS and not last.isalpha() and after.isalpha())):
            continue
        count += 1
        if common:
            score += 1 if c in frequent or c in _PUNCTUATION else _usual(c, encoding, common)
        elif not c.isalpha() and c not in frequent:
            score -= 1
        elif (last.isascii() and last.isalpha()) or (after.isascii() and after.isalpha()):
            score -= 1  # no word is written in two alphabets
        elif c.isupper() and last.islower():
            score -= 1
        elif c.lower() in frequent:
            score += 0.6 if c.isupper() else 1
        else:
            score -= 0.5
    return score / (count or 1)


def _usual(character: str, encoding: str, common: bytes) -> float:
    """Return what a character says that is not among the most frequent ones: its place in the set tells its use."""
    if not "\u3400" <= character <= "\ud7a3":
        return -0.5
    lead = character.encode(encoding, errors="replace")
    return 0.4 if len(lead) == 2 and common[0] <= lead[0] <= common[1] else -0.3


@cache
def _languages() -> tuple[_Language, ...]:
    listed = []
    for encodings, codes, letters, final, words in _LATIN_SCRIPT:
        known = FUNCTION_WORDS.get(codes, frozenset())
        listed.append(
            _Language(encodings, frozenset(letters + final), frozenset(final), known | {*words.split()})
        )
    return tuple(listed)


def _latin(sample: bytes) -> str:
    """Return the encoding whose words are best those of one language; Western unless another is clearly ahead."""
    scores: dict[str, float] = {}
    texts: dict[str, tuple[list[str], set[str]]] = {}
    for language in _languages():
        for encoding in language.encodings:
            if encoding not in texts:
                found = set(_WORD.findall(sample.decode(encoding, errors="replace")))
                texts[encoding] = [w for w in found if not w.isascii()], {w.lower() for w in found}
            odd, words = texts[encoding]
            score = (
                sum(_fit(word, language) for word in odd) + min(_MOST_WORDS, len(words & language.words)) / 2
            )
            score += min(_MOST_WORDS, sum(not w.isascii() for w in words & language.words)) / 2
            scores[encoding] = max(score, scores.get(encoding, score))
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best] > scores[WESTERN] + _AHEAD else WESTERN


def _fit(word: str, language: _Language) -> float:
    """Return whether a word with high characters may be one of a language: 1, 0 where it cannot be told, or less."""
    parts = _PART.split(word.strip(_AROUND))
    score = 1.0 if len(word) > 1 and (len(parts) > 1 or word[0] in _OPENS or word[-1] in _CLOSES) else 0.0
    for part in parts:
        core = part.strip(_AROUND)
        if core.isascii() or (len(core) == 1 and core.isalpha()):
            continue
        if not core.isalpha():
            return -2
        known = all(c <= "\x7f" or c in language.letters or c.lower() in language.letters for c in core)
        cased = core.islower() or core.isupper() or core.replace("İ", "I").istitle()
        if not (known and cased and language.final.isdisjoint(core[:-1].lower())):
            return -1
        score = 1
    return score
