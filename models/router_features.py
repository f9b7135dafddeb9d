"""What the router's linear layer sees of a question.

Four hashed bags: phrases of one and two words; the same of the question's *skeleton* (function words kept, the rest by
shape and ending, so that the build of a question counts and not its subject); pieces of words; form, which is length,
names and numbers. Then a few cues, and the embedding. The cues count words of five languages that speak for a medium, a
moment, an appearance, an act or a procedure.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragweave.models.embed import encoder
from ragweave.models.text import STOP, UNSPACED, fold, words

_CUES: dict[str, str] = {
    "picture": r"""photo[a-z]* picture[sd]? pics? images? snapshots? snaps? screenshots?
        screen_?(?:grab|shot|cap)s? drawings? paintings? posters? maps? logos? sketch(?:es)? selfies? portraits?
        x-?rays? scans? murals? murales? floor_?plans? seating_?plans? stickers? illustrations? icons? emblems?
        statues? facades? fotos? bild(?:er|es|s)? plakat karte imagen(?:es)? mapa cartel retrato photographie
        peinture affiche carte 照片 图片 截图 图像 海报 地图 合影 画""",
    "chart": r"""charts? graphs? diagrams? plots? histograms? figures? fig infographics? axis axes legend bars?
        curves? trend_?lines? flow_?charts? dashboards? slides? whiteboards? blackboards? diagramm folien? tafel
        graficos? diapositivas? pizarra graphiques? diagramme diapositives? tableau 图表 柱状图 曲线 幻灯片 白板
        图""",
    "recording": r"""videos? recordings? recorded footage films? filmed movies? clips? episodes? webinars?
        lectures? talks? podcasts? vlogs? documentar(?:y|ies) live_?streams? streams? scenes? interviews?
        keynotes? screencasts? tutorials? broadcasts? shows? match game season trailer demo calls? zoom session
        panel camera cam audio tape soundtrack vortrag aufnahme filme? folge sendung besprechung spiel grabacion
        pelicula charla episodio partido enregistrement conference reunion reportage 视频 录像 录音 电影 讲座
        播客 比赛 节目 会议""",
    "text": r"""documents? reports? papers? articles? notes? books? chapters? contracts? e?mails? letters?
        manuals? pages? paragraphs? sections? minutes polic(?:y|ies) files? memos? guides? handbooks? leases?
        agreements? novels? thesis dissertation essays? clauses? statutes? receipts? invoices? quotes? bills?
        prescription diar(?:y|ies) journals? memoirs? vertrag[a-z]* bericht[a-z]* handbuch brief protokoll
        rechnung buch contratos? informes? manual carta actas? libro contrat rapports? manuel lettre bail livre
        合同 报告 手册 邮件 论文 笔记 小说 书 纪要""",
    "moment": r"""at_(?:what|which)_(?:point|time|minute|second|moment|timestamp)
        (?:what|which)_(?:minute|second|timestamp) timestamps? timecodes?
        (?:right|just|immediately|straight|shortly)_(?:after|before|when|as) as_soon_as moments?
        when_(?:does|did|do) (?:part|bit|scene|moment|spot|section)_(?:where|when) \d{1,2}:\d\d
        (?:minutes?|seconds?|hours?)_(?:in|mark) minute_\d+ (?:jump|skip|go|take_me|scrub|rewind)_to
        at_the_(?:start|beginning|end)_of near_the_end welcher_(?:stelle|minute) wann_genau
        kurz_(?:bevor|nachdem) direkt_nachdem (?:que|cual)_(?:momento|minuto) justo_(?:antes|despues)
        (?:quel|quelle)_(?:moment|minute|endroit) juste_(?:apres|avant) 什么时候 第.{1,4}分钟 那一段 之后 之前""",
    "looks": r"""colou?rs? shapes? shaped wear(?:s|ing)? worn visible facing background foreground left right
        top bottom corner beside next_to behind in_front_of above standing seated sitting kneeling holding
        striped? patterns? tall(?:er)? wider? round square shown depict[a-z]* look(?:s|ing)? see seen written
        labell?ed painted shaded highlighted taller farbe aussieht zu_sehen steht_(?:auf|neben) schild color
        forma lado detras couleur forme a_cote ressemble panneau 颜色 长什么样 旁边 写着""",
    "acts": r"""says? said shout[a-z]* yell[a-z]* whisper[a-z]* mentions? mentioned happens? happened
        walk(?:s|ing)? picks?_up puts? opens? enters? leaves pours? laughs? reacts? drops? turns? grabs? throws?
        falls? runs? cries kicks? hands points? scores? interrupts? brings?_up bring_up explains talks?_about
        sagt macht reagiert spricht dice hace reacciona menciona dit fait reagit parle 说 提到 讲到 反应 做了""",
    "persons": r"""man woman boy girl guy lady kid baby crowd audience players? hosts? presenters? speakers?
        narrator characters? coach referee goalkeeper judge teacher professor chef guest bride groom
        contestants? detective driver reporter cat dog""",
    "procedure": r"""how_(?:do|can|should|would)_(?:you|i|we|one|they) how_to how_is_\w+_(?:made|done) steps?
        procedure process_(?:for|of|to) method_(?:for|of|to) (?:best|right|proper|easiest|good)_way_to way_to
        techniques? tools? precautions? recommended wie_\w+_man como_se schritte pasos etapes comment 怎么 如何
        步骤""",
}


def _compiled(phrases: str) -> re.Pattern[str]:
    """Join the phrases of a cue: "_" is the gap between two words, "_?" one that may be missing, the rest a pattern."""
    found = []
    for phrase in phrases.split():
        body = phrase.replace("_?", r"\W?").replace("_", r"\W+")
        found.append(rf"\b(?:{body})\b" if phrase.isascii() else body)
    return re.compile("|".join(found))


_PATTERNS = {name: _compiled(phrases) for name, phrases in _CUES.items()}

CUES = tuple(_PATTERNS)
"""Names of the cues, in the order of the vector; a head trained for other names is refused."""
BUCKETS = 16_384
"""Places that each of the bags of phrases, skeleton and pieces is hashed to."""
FORMS = 256
"""Places of the bag of lengths and counts, which is half as long as the others."""
_CUE = 0.4
"""Weight of one cue beside bags and embeddings of length 1."""

_OPTION = re.compile(r"^\s*(?:\(?[A-Ha-h1-9][.):]\)?|[-*•])\s+\S")
_TOKEN = re.compile(rf"\d[\d.,:/]*|[^\W\d_{UNSPACED}]+(?:['’-][^\W\d_{UNSPACED}]+)*|[{UNSPACED}]|[?!,.;:\"“”()-]")


def clean(question: str) -> str:
    """Return the part of a question that is routed: one line, no answer options, of a very long text both ends.

    Answer options on further lines say nothing about where the answer lies, and the published trained routers read
    the first line only (UniversalRAG, appendix on training).
    """
    lines = [line.strip() for line in question.splitlines() if line.strip()]
    text = " ".join(" ".join(line for i, line in enumerate(lines) if i == 0 or not _OPTION.match(line)).split())
    return text if len(text) <= 800 else f"{text[:600]} {text[-200:]}"


def cues(question: str) -> set[str]:
    """Return the names of the cues whose words stand in a question."""
    plain = fold(clean(question))
    return {name for name, pattern in _PATTERNS.items() if pattern.search(plain)}


def features(questions: Sequence[str]) -> NDArray[np.float32]:
    """Return a row per question: phrases, skeleton, pieces, form, cues, embedding; a wordless question has zeros.

    The embedding is the embedded encoder's, whatever the library uses: the head was fitted with it.
    """
    texts = [clean(q) for q in questions]
    return np.stack([_row(text, vector) for text, vector in zip(texts, encoder("wordllama").texts(texts), strict=True)])


def _row(text: str, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    plain = fold(text)
    cues = [min(len(p.findall(plain)), 3) * _CUE for p in _PATTERNS.values()]
    bags = (
        _bag(_phrases(words(text))),
        _bag(_phrases(skeleton(text))),
        _bag(_pieces(text)),
        _bag(_form(text), FORMS) / 2,
    )
    return np.concatenate([*bags, cues, vector], dtype=np.float32)


def _bag(found: Collection[str], places: int = BUCKETS) -> NDArray[np.float32]:
    """Hash what was found; the bag has length 1."""
    bag = np.zeros(places, dtype=np.float32)
    bag[[zlib.crc32(f.encode("utf-8", "replace")) % places for f in found]] = 1
    return bag / max(1.0, float(np.linalg.norm(bag)))


def _phrases(tokens: Sequence[str]) -> set[str]:
    return {*tokens, *(" ".join(pair) for pair in pairwise(tokens))}


def _pieces(text: str) -> set[str]:
    """Return two to five characters in a row of each word, its edges marked by spaces, every digit a 0."""
    padded = [f" {word} " for word in set(re.sub(r"\d", "0", text).split())]
    return {word[i : i + n] for word in padded for n in (2, 3, 4, 5) for i in range(len(word) - n + 1)}


def _form(text: str) -> set[str]:
    """Return how long a question is, how many names and numbers it has, how it begins and ends."""
    if not (tokens := _TOKEN.findall(text)):
        return set()
    length, names = min(len(tokens), 40), sum(t[0].isupper() for t in tokens[1:])
    numbers, end = sum(t[0].isdigit() for t in tokens), text[-1:]
    counts = {f"len{length // 3}", f"len{length // 6}b", f"cap{min(names, 6)}", f"num{min(numbers, 3)}"}
    return counts | {f"low{text[:1].islower()}", f"end{end}"}


def skeleton(text: str) -> list[str]:
    """Replace content words by what they look like: names by CAP, numbers by NUM or YEAR, others by their ending.

    >>> skeleton("Who wrote Dune in 1965?")
    ['^who', '_ote', 'CAP', 'in', 'YEAR', '?']
    """
    return [_shape(token, i == 0) for i, token in enumerate(_TOKEN.findall(text))]


def _shape(token: str, first: bool) -> str:
    low = fold(token)
    if low in STOP:
        return f"^{low}" if first else low
    if token[0].isdigit():
        return "YEAR" if re.fullmatch(r"1\d{3}|20\d{2}", token) else "NUM"
    if not token[0].isalpha() or len(token) == 1:
        return token
    return "CAP" if token[0].isupper() and not first else ("^_" if first else "_") + low[-3:]
