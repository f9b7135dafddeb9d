"""Form and rule cues of a question: dense, few, and tied to the meaning of the labels.

Each cue counts words and phrases of English, German, Spanish, French and Chinese that speak for a medium (a picture, a
recording, a text), a span (one moment, the whole) or a kind of task (compare, summarise, compose, compute).
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ragweave.models.text import fold, script

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
    "whole": r"""overall whole entire(?:ly)? throughout start_to_(?:finish|end) beginning_to_end (?:in|a)_total
        altogether across over_the_course in_order in_full all_the everything step_by_step through main general
        insgesamt gesamte?n? ganzen? verlauf todos? toda entera completa a_lo_largo ensemble tout_au_long entier
        au_total du_debut 整个 整场 整部 全部 从头到尾 一共 主要""",
    "summary": r"""summar[a-z]+ overview recaps? gist outline takeaways? highlights? themes? topics? key_points?
        main_(?:points?|ideas?|arguments?) condense sum_up wrap_?up tl;?dr table_of_contents chapter_markers
        about zusammen(?:fassung)? uberblick resum[a-z]* resume[a-z]* synthese trata 总结 概括 要点 讲了""",
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
    "compare": r"""compar[a-z]+ differences? differ versus vs both either which_(?:of|one) older younger earlier
        later more larger than between same contrast agree unterschied[a-z]* vergleich[a-z]* diferencias? ambos
        differences? entre 比较 对比 区别 不同""",
    "gather": r"""list every each all across relationship pros_and_cons timeline changed? develop[a-z]*
        evolv[a-z]* argu[a-z]+ reasons advantages findings conclusions limitations methodology consequences
        led_to connect[a-z]* relate[a-z]* why explain""",
    "compose": r"""write draft translate rewrite rephrase compute calculate solve convert brainstorm suggest
        come_up_with poem haiku limerick joke synonyms? antonyms? python sql regex code function spell rhymes?
        grammar correct define meaning schreib[a-z]* ubersetz[a-z]* bedeutet escribe traduce significa
        ecri[a-z]* tradui[a-z]* veut_dire 写一首 写一 翻译 意思 笑话 等于""",
    "sums": r"""\d\s?[-+*/x×÷^=]\s?\d percent_of %\s?of times_\d+ plus minus divided square_root mal_\d+ geteilt
        por_\d+ fois divise 乘以 平方根 除以""",
    "greeting": r"""hi hello hey thanks thank_you cheers good_(?:morning|evening|night|afternoon) hallo danke
        guten hola gracias buen[oa]s bonjour merci salut bonsoir 你好 谢谢 早上好 晚上好 who_are_you""",
    "mine": r"""my our ours we i me mein[a-z]* unser[a-z]* ich wir mi mis nuestr[a-z]* mon ma mes notre nos 我
        我们 我的""",
    "yours": r"""you your yourself du dich tu te toi 你""",
    "exam": r"""which_of_the_following following except true_(?:or|of) false statements? best_describes?
        is_called is_known_as most_likely least_likely would_be suppose let_\w+_be would_most
        if_(?:a|an|the|you)""",
    "belief": r"""is_it_(?:true|safe|bad|ok|possible) what_happens_if do_(?:people|humans|vaccines|animals)
        can_(?:you|people|humans) why_(?:do|is|are|does) should_(?:i|you|one)""",
    "fact": r"""deposit address phone number password price fee rate salary due_date deadline expir[a-z]+ born
        founded built located population capital invented discovered founder name when_(?:is|was|were)
        who_(?:is|was|wrote|invented|discovered|founded|signed) how_(?:much|old|tall|long|far|high|deep)""",
}


def _compiled(phrases: str) -> re.Pattern[str]:
    """Join the phrases of a cue: "_" is the gap between two words, "_?" one that may be missing, the rest a pattern."""
    found = []
    for phrase in phrases.split():
        body = phrase.replace("_?", r"\W?").replace("_", r"\W+")
        found.append(rf"\b(?:{body})\b" if phrase.isascii() else body)
    return re.compile("|".join(found))


_PATTERNS = {name: _compiled(phrases) for name, phrases in _CUES.items()}

_MATTERS = {"image": ("picture", "chart"), "clip": ("recording", "moment"), "paragraph": ("text",)}
"""Cues that name a medium, by the finest corpus of what it holds."""

_PLACES = re.compile(
    r"\b(?:(?:at|in|around|from|after|near)\W+)?(?:what|which)\W+(?:minute|second|timestamp|point\W+in\W+time)s?\b"
    r"|\b(?:in|at|during|from)\W+(?:what|which)\W+(?:part|point|moment|section|stretch|half|episode|video|recording"
    r"|talk|lecture|film|clip|scene|podcast|interview|session)s?\b"
    r"|\b(?:when|where|how\W+far)\W+(?:in|into|during)\W+(?:the|this|that|my|our)\W+(?:\w+\W+)?(?:video|recording|talk"
    r"|lecture|episode|film|movie|podcast|interview|meeting|call|webinar|session|stream|broadcast)\b"
    r"|\bhow\W+(?:many\W+minutes|far)\W+in(?:to)?\b"
    r"|\b(?:in|ab|bei|um|an)\W+welche[rmn]?\W+(?:minute|sekunde|stelle|folge|episode|sendung|aufnahme|video|vortrag|film"
    r"|szene|abschnitt|teil)\b|\b(?:wann|wo)\W+(?:im|in\W+de[rm])\W+(?:video|vortrag|film|aufnahme|folge|sendung"
    r"|besprechung|gesprach|vorlesung)\b"
    r"|\b(?:en|a|desde|hacia)\W+(?:que|cual)\W+(?:minuto|segundo|momento|parte|episodio|video|charla|capitulo|escena"
    r"|grabacion)s?\b|\bcuando\W+en\W+(?:el|la)\W+(?:video|charla|grabacion|episodio|pelicula|clase|reunion)\b"
    r"|\b(?:a|dans|vers|de)\W+quel(?:le)?s?\W+(?:minute|seconde|moment|partie|episode|video|emission|conference|scene"
    r"|enregistrement|passage)s?\b|\b(?:quand|ou)\W+dans\W+(?:la|le|l)\W+(?:video|conference|emission|film|episode"
    r"|enregistrement|reunion|cours)\b"
    r"|第几(?:分钟|秒|集|期)|哪(?:一)?(?:分钟|秒|集|期|段|部分)|几分几秒|哪个(?:视频|录像|讲座|节目)|(?:视频|录像|讲座|节目)的?(?:什么时候|哪里)"
)
"""A place on a timeline, or the recording that holds something, asked for in five languages."""


def names_place(question: str) -> bool:
    """Tell whether a question asks where on a timeline, or in which recording, something stands."""
    return bool(_PLACES.search(fold(question)))


def media(question: str) -> set[str]:
    """Return the media that a question names, by the finest corpus of each: `image`, `clip`, `paragraph`."""
    plain = fold(question)
    named = {corpus for corpus, cues in _MATTERS.items() if any(_PATTERNS[cue].search(plain) for cue in cues)}
    return named | ({"clip"} if _PLACES.search(plain) else set())


DENSE_NAMES: tuple[str, ...] = (
    *_PATTERNS,
    "length",
    "names",
    "numbers",
    "years",
    "commas",
    "quoted",
    "question_mark",
    "capital_start",
    "relatives",
    "of",
    "han",
    "wh_late",
    "foreign",
)
"""Names of the cues in the order of the vector; a head trained for other names is refused."""

_RELATIVE = frozenset("who which that whose whom where".split())
_WH = frozenset("who whom whose when where which what why how".split())
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_FOREIGN = re.compile(
    r"\b(?:der|die|das|ist|und|wie|was|im|auf|ein|eine|el|la|los|en|que|de|del|como|le|les|est|dans|sur|quel|quelle|du|une)\b"
)


def dense(text: str, tokens: list[str], folded: list[str]) -> NDArray[np.float32]:
    """Return the cue vector; every value lies between 0 and 3.

    Args:
        text: the cleaned question.
        tokens: its cased tokens.
        folded: its folded words.
    """
    plain = fold(text)
    lowered = [t.lower() for t in tokens]
    values: list[float] = [min(len(p.findall(plain)), 3) for p in _PATTERNS.values()]
    values += [
        min(len(folded), 60) / 20,
        min(sum(t[0].isupper() for t in tokens[1:] if t[0].isalpha()), 8) / 4,
        min(sum(t[0].isdigit() for t in tokens), 4) / 2,
        min(len(_YEAR.findall(text)), 2),
        min(text.count(","), 4) / 2,
        float('"' in text or "“" in text),
        float(text.endswith("?")),
        float(text[:1].isupper()),
        min(sum(t in _RELATIVE for t in lowered[1:]), 3),
        min(lowered.count("of"), 4) / 2,
        float(script(text) in ("han", "kana")),
        float(not any(t in _WH for t in lowered[:2]) and any(t in _WH for t in lowered[2:])),
        min(len(_FOREIGN.findall(plain)), 3),
    ]
    return np.array(values, dtype=np.float32)
