"""Follow-ups in Chinese, Japanese and Korean: which leave their subject to what was said before, and which name one."""

from __future__ import annotations

import re

from ragweave.minds.contracts import Said
from ragweave.models.text import content_words, names, script

_PART = 12
"""Characters up to which a question may leave something out; a longer one stands by itself unless it points back."""
_LONG = 40
"""The same of one that goes on: “那…”, “…呢?”."""
_CONTENT = 3
"""Characters of content from which a question in Chinese is one of its own wherever they stand; a verb has two."""
_POINTS = re.compile(
    "(?<![其吉])[它他她]|这|那(?=[个些里儿家座位本次天年种边时条只艘间])|(?<!土耳)(?<!尤)其(?![他它实])|(?<!应)该|此|前者|后者"
)
_PRONOUN = re.compile("它们|他们|她们|(?<![其吉])[它他她]")
_ONWARD = re.compile("(?:那么|那(?![个些里儿家座位本次天年种边时条只艘间])|还有)")
_ASKS = re.compile("什么|谁|哪|几|多少|怎|吗|如何|何[时处地]|多[大高长远久深重宽厚]|有没有|是不是|能不能")
_DAY = re.compile(
    r"早上|上午|中午|下午|傍晚|晚上|夜里|今[天年]|明[天年]|昨天|去年|周[一二三四五六日末]|星期[一二三四五六日]|\d+[年月日]"
)


_PLAIN = str.maketrans(
    "麼誰幾點為樣時裡裏兒長遠開關門營業買費錢訂預結員問請嗎週間過還會應該須創辦價話號碼歲個這們來從離對與給讓於後現張艘東車電",
    "么谁几点为样时里里儿长远开关门营业买费钱订预结员问请吗周间过还会应该须创办价话号码岁个这们来从离对与给让于后现张艘东车电",
)
"""Traditional characters of the words below."""


def follow(question: str, before: Said) -> str:
    """Return a question that stands by itself: in another word's place, or with what was spoken of behind it."""
    plain = question.translate(_PLAIN)
    asks, onward = _ASKS.search(plain), _ONWARD.match(plain) or "呢" in plain
    points = _POINTS.search(plain) or (not asks and "呢" in plain)
    if not points and (len(question) > (_LONG if onward else _PART) or _is_own(question, before)):
        return question
    m = _PRONOUN.search(plain)
    part = re.fullmatch(rf"{_ONWARD.pattern}?(.{{1,8}}?)呢?[？?]?", plain)
    if part and not m and not asks:
        said = question[slice(*part.span(1))]
        mine, theirs = _DAY.search(said), _DAY.search(before.question)
        if mine and theirs:
            return before.question[: theirs.start()] + said + before.question[theirs.end() :]
        return f"{said} ({before.question})"
    named = names(before.question)
    topic = named[0] if named else before.title.split(" · ")[0] or " ".join(content_words(before.question)[:6])
    if not topic or topic in question:
        return question
    return question[: m.start()] + topic + question[m.end() :] if m else f"{question} ({topic})"


def _is_own(question: str, before: Said) -> bool:
    """Tell whether a question names something of its own: neither what was spoken of, nor an attribute of it."""
    asked, said = question.rstrip(" ？?！!。."), " ".join(before)
    match script(question):
        case "kana":
            return _japanese(asked, said)
        case "hangul":
            return _korean(asked, said)
    return _chinese(asked.translate(_PLAIN), said.translate(_PLAIN))


_MARKS = (
    (re.compile('请问|请|你?知道|告诉我|到底|究竟|一共|大概|一下|[，,、《》“”"]'), ""),
    (
        re.compile(
            rf"{_DAY.pattern}|凌晨|早晨|清晨|白天|周末|平时|平日|工作日|假期|假日|节假日|[一-龥]{{1,2}}节(?![目日约])"
            r"|[春夏秋冬][天季]|[上下本]个?(?:周|星期|月)|星期天|前年|后天|每[天周月年次]|现在|目前|最[后早近新]"
            r"|第?[\d一二三四五六七八九十两]+[个次壶杯张位班艘座只年岁天]"
        ),
        "",
    ),
    (re.compile("介绍|讲讲|说说|谈谈|解释|什么是|谁是|何为|何谓"), "!"),
    (re.compile("(?:电话)?号码|电话(?=是?多少)"), "f"),
    (
        re.compile(
            "什么时候|为什么|怎么样|怎么|怎样|如何|为何|何[时处地]|哪[里儿年天月]|哪一[年天]|几[点月号时岁]|多[大高长远深重宽厚]"
        ),
        "w",
    ),
    (re.compile("什么样?|谁|哪一?[个些位家座种条本间班艘]?|几[个次位只种本张]?|多少[个次位]?|多久"), "o"),
    (re.compile("有没有|没有|有(?!机)"), "h"),
    (
        re.compile(
            "开始|结束|营业|开放|开门|关门|打烊|休息|关闭|提前|预订|预定|预约|订[位座票]|购?买票?|收费|免费|付[款费钱]|负责|管理"
            "|出生|去世|位于|毕业|工作|生活|居住|结婚|成立|建[成立造]|创[办立建]|使用|需要|要求|提供|包括|属于|出发|到达|离开"
            "|步行|开车|坐[车船]|乘[车船]|停留|持续|提到|喜欢|可以|可能|应该|应当|必须|是不是|能不能"
            "|能够?(?![量源])|会(?![议员长计])|要(?!塞)|想(?!象)|是|叫|做|用|去|来|到|走(?!廊)|开(?![普封罗])|关(?!羽)"
            "|吃|喝|卖|买|住|建(?!筑)|造|写|带|坐|等|当|养|付|(?<![首成])都|就|也|还|很|更|比较|太(?=[贵远大小多高长])|最|不|没"
            "|[好贵远近大小多高](?=吗|$)"
        ),
        "v",
    ),
    (re.compile("[了过]"), "d"),
    (re.compile("的|(?<=[一-龥])[上下里中内](?=[wohvd])"), "l"),
    (re.compile("[吗呢吧啊么呀在]"), ""),
    (re.compile("[我你咱]们|[离从对和与跟及给把被让向往于以由为我你您们钱]"), "f"),
)
"""What is no content of a question, and the mark in its place: `w` asks how or when, `o` what, `h` what there is, `v`
is a generic verb or an auxiliary, `d` tells what was done, `l` joins a noun, `f` is a function word, `!` asks to
explain what follows."""
_ATTRIBUTE = re.compile(
    "(?!印度)(?:.[费价名号址长主期度量龄色味数率额]|价[格钱位]|面积|时间|历史|原因|目的|地点|位置|作者|老板|老师|经理|负责人|创始人"
    "|邮箱|网址|工作|职业|故乡|家人|父[亲母]|母亲|孩子|妻子|丈夫|特[点色]|内容|结果|意思|规模|交通|门票|票|天气|环境|质量|大小|味道|服务"
    "|^人|[里外上下前后旁附][面边近])$"
)
"""What belongs to something that must be known: its price, its age, who owns it."""
_HELD = 2
"""Characters from which a piece of a question counts as said before."""


def _chinese(question: str, said: str) -> bool:
    """Tell whether content is left that was not said: as the topic, as what something was done to, or much of it."""
    text = _ONWARD.sub("", question, count=1) if _ONWARD.match(question) else question
    text, said = text.upper(), said.upper()  # the marks are lower case
    for pattern, mark in _MARKS:
        text = pattern.sub(mark, text)
    text = _RUN.sub(lambda m: _new(m.group(), said), text)
    runs = _RUN.findall(text)
    new = [r for r in runs if not _ATTRIBUTE.search(r)]
    if sum(map(len, new)) >= _CONTENT:
        return True
    m = _SUBJECT.match(text)
    return m is not None and (m["whole"] in runs or (m["subject"] or m["there"]) in new)


_RUN = re.compile("[一-龥A-Z0-9]+")
_SUBJECT = re.compile(
    "w?(?P<subject>R)[whvldf]|(?:w?ho?|wv(?=..))(?P<there>R)$|(?:!v?|.*do?v?)(?P<whole>R)$".replace("R", _RUN.pattern)
)
"""What a question is about: its topic, or all that is asked of: “有什么X”, “怎么去X”, “什么是X”, “谁做了X”."""


def _new(run: str, said: str) -> str:
    """Return a run of content without the pieces that were said before."""
    if len(run) == 1:
        return "" if run in said else run
    for size in range(len(run), _HELD - 1, -1):
        for at in range(len(run) - size + 1):
            if run[at : at + size] in said:
                return _new(run[:at], said) + _new(run[at + size :], said)
    return run


_JA_NOUN = re.compile(
    r"(?P<noun>[一-龥々ァ-ヶーA-Za-z0-9]+)(?:には|では|とは|[はがをの])(?=.)|^(?P<topic>[ぁ-ん]{2,8}?)(?:とは|は)(?=.)"
)
_JA_KNOWN = re.compile(
    "何|誰|幾|いつ|どこ|どう|どれ|どの|なぜ|いくら|こ[れのこ]|そ[れのこ]|あれ|彼|朝|昼|夜|夕方|午前|午後|今[日年]|明日|昨日|週末|平日"
    "|[月火水木金土日]曜日?|[春夏秋冬]$|料金|値段|価格|住所|電話番号|名前|時間|高さ|長さ|年齢|予約|入場料|営業|[一二三四五六七八九十\\d]+[人時分日]"
)


def _japanese(question: str, said: str) -> bool:
    """Tell whether a noun with a particle is new; a topic alone (“週末は?”) is a part of the question before."""
    nouns = [m["noun"] or m["topic"] for m in _JA_NOUN.finditer(question)]
    return any(n not in said and not _JA_KNOWN.search(n) for n in nouns)


_KO_NOUN = re.compile(r"(?P<noun>[가-힣A-Za-z0-9]+?)(?:에는|에서는|은|는|이|가|을|를|의)(?=\s)")
_KO_KNOWN = re.compile(
    "^(?:누|뭐|무엇|언제|어디|왜|어떻|얼마|몇|어느|무슨|그|이|저|거기|여기|저기|그곳|이곳|그것|이것|그녀|우리)"
    "|주말|평일|아침|점심|저녁|오전|오후|오늘|내일|어제|[월화수목금토일]요일|가격|요금|값|주소|전화번호|이름|시간|높이|길이|나이|문$|예약|입장료"
)


def _korean(question: str, said: str) -> bool:
    """Tell whether a noun with a particle, before the last word, is new."""
    nouns = [m["noun"] for m in _KO_NOUN.finditer(question)]
    return any(n not in said and not _KO_KNOWN.search(n) for n in nouns)
