"""Recognise tags in the replies of models by their shape and the words of their names."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["thought", "answer", "channel", "turn", "role", "end", "special", "unknown", "text"]

_NAME = r"(?:0x[0-9A-Fa-f]{2}|[^\W\d][\w:.▁ -]{0,40})"
_WORDS = r"[^\W\d](?:[\w ]{0,28}\w)?"
_SPEAKER = r"(?i:human|user|instruction|benutzer|nutzer|utilisateur|usuario|пользователь|用户|用戶|ユーザー)"
TAG = re.compile(
    rf"(?P<lead>[<\[][|｜])(?P<slash>/?)(?P<pipe>[^\s|｜<>\[\]][^|｜<>\[\]\n]{{0,40}})[|｜]?[>\]]"
    rf"|<(?P<tail>[^\s|｜<>/][^|｜<>\n]{{0,40}})[|｜]>"
    rf"|(?:(?P<twice><<)|(?P<entity>&lt;|\\u003[cC])|\\?[<＜◁⟨〈⟪]) ?(?P<close>\\?/?) ?(?P<name>{_NAME})"
    r"(?:[ \t][^<>\n]{0,60})?(?P<alone>/?)(?(twice)>>|(?(entity)(?:&gt;|\\u003[eE])|\\?[>＞▷⟩〉⟫]))"
    rf"|(?:(?P<double>\[\[|\{{\{{)|(?P<run>%%|@@|##|==|::|\|\||\$\$)|[\[({{【「])"
    rf"(?P<shut>/?)(?P<square>{_WORDS})"
    rf"(?(double)(?:\]\]|\}}\}})|(?(run)(?P=run)|[\])}}】」]))(?!\()"
    r"|(?P<fence>```+|~~~+)|(?P<code>`[^`\n]{1,200}`)"
    rf"|(?P<turn>\n[ \t]*(?:#{{1,6}}[ \t]*|[*_]{{2}})?{_SPEAKER}[ \t]?(?:[*_]{{2}})?[:：])"
)
"""A tag in any brackets, a fence, code within a line, or a line that begins the turn of a speaker."""
BEGUN = re.compile(
    r"(?:\\?<{1,2}[^<>\n]{0,110}>?|\\(?:u[03]{0,3}|u003[cC][^<>\n\\]{0,60}(?:\\(?:u[03]{0,3})?)?)?"
    r"|&(?:l(?:t(?:;[^<>&\n]{0,60}(?:&g?t?)?)?)?)?"
    r"|[＜◁⟨〈⟪][^>＞▷⟩〉⟫\n]{0,110}|\[[|｜][^\[\]\n]{0,60}"
    r"|(?:\[\[?|\{\{?|[(【「])/?(?:[^\W\d][\w ]{0,29}(?:[\])}】」]{1,2})?)?"
    r"|(?P<run>[%@#=|:$])(?:(?P=run)/?(?:[^\W\d][\w ]{0,29}(?P=run){0,2})?)?|`[^`\n]{0,200}|``+|~~+"
    r"|\n[ \t#*_]{0,8}\w{0,14}[ \t*_]{0,3})\Z"
)
"""The beginning of a tag or of code, which the text that follows may complete."""
LONGEST_TAG = 120
"""Most characters of a tag, or of the name of a channel with its end mark."""
LONGEST_CODE = 202
"""Most characters of code within a line, with its two backticks."""
_THINKS = re.compile(
    r"think|thought|reason|reflect|anal[iy][sz]|scratch|monolog|deliberat|ponder|contemplat|cogit|ruminat"
    r"|introspect|rationale|brainstorm|\bcot\b|chain|\binner\b|\bplan(?:ning)?\b"
    r"|denk|gedank|überleg|pens[éaei]|réfl|razon|ragion|raison|мысл|дума|рассужд|思|推理|考え|생각",
    re.I,
)
ANSWERS = re.compile(
    r"answer|response|\bfinal\b|solution|\boutput\b|\bresult\b|\breply\b|conclusion"
    r"|antwort|respuesta|réponse|resposta|risposta|ответ|答|回复",
    re.I,
)
_HTML = frozenset(
    """a abbr b blockquote body br code dd del details div dl dt em font h1 h2 h3 h4 h5 h6 head hr html i
    img ins kbd li mark math ol p pre q s samp small span strike strong sub summary sup svg table tbody td th
    thead title tr tt u ul var cite source ref doc document citation reference
    co""".split()
)
_TOKENS = re.compile(
    r"eos|bos|pad|unk|sep|cls|mask|unused\d*|(?:end|start)_of_\w+|eo[ts]\w*|im_(?:start|end)|0x[0-9a-f]{2}"
    r"|(?:special|reserved)\w*\d"
)
"""Special tokens that are written as ordinary tags."""
_SQUARE_TOKENS = frozenset({"INST", "SYS", "EOS", "BOS", "PAD", "EOT", "END", "DONE", "STOP", "ASSISTANT"})
_TURNS = frozenset({"im_start", "start_header_id", "start", "start_of_turn", "begin", "turn"})
"""Tokens that the name of a role follows."""
_ENDS = re.compile(r"(?:im_end|eot_id|eot|eos|eom_id|endoftext|end_of_(?:text|turn|sentence)|return)\Z")
OURS = frozenset({"assistant", "model", "bot", "ai", "chatbot", "gpt"})
OTHERS = frozenset("user human system developer tool function functions observation ipython".split())
ASKERS = ("user", "human", "system", "developer")
"""Roles whose turn before the answer repeats the prompt."""
_CITES = re.compile(r"(?:co|(?:cit|ref|sourc|src|doc|footnote)\w*?)[_: -]*\d+")
"""The name of a token that cites a document."""
AGAIN = re.compile(r"<[|｜]?(?:channel|im_start|start_header_id|start_of_turn|start|begin)[|｜]?>")
_NOUNS_OF_TURNS = frozenset({"text", "sentence", "header", "turn", "box", "of"})
_CHANNEL = re.compile(r"\s{0,8}(?=\S)(?P<name>\w{1,40})?[^<>\n]{0,60}?(?:<[|｜]message[|｜]>|\n)")
_ROLE = re.compile(r"\s{0,8}(?P<role>\w{1,40})(?=\W)")
THOUGHT_LINES = ("thought\n", "thoughts\n", "thinking\n", "analysis\n")
FORMS = {"channel": _CHANNEL, "role": _ROLE, "thought": re.compile(rf"\s*(?:{'|'.join(THOUGHT_LINES)})")}


class Tag(NamedTuple):
    """A tag: its kind, its name, whether it closes, and whether other brackets than < and > are around it."""

    kind: Kind
    name: str
    closes: bool
    bracket: bool = False


def tag_of(found: re.Match[str]) -> Tag:
    """Read a tag by its shape and the words of its name."""
    piped = found["pipe"] or found["tail"]
    name = (piped or found["name"] or found["square"] or "").strip().replace("▁", "_")
    words = re.findall(r"[^\W_\d]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    lower = name.lower().replace(" ", "_")
    closes = bool(found["slash"] or found["close"] or found["shut"] or found["tail"])
    if not closes:
        ends = r"(?:end|close|stop)" + (r"\w|\w+_(?:end|close|stop)\Z" if piped else "_")
        closes = re.match(ends, lower) is not None
    if found["square"]:
        kind = _kind_in_bracket(name, words)
        return Tag(kind, "tool" if kind == "role" else _core(words), closes, bracket=True)
    kind = _kind_by_name(lower, closes, bool(piped), words) or _kind_by_words(lower, bool(piped), words)
    if kind not in ("thought", "answer", "special", "unknown"):
        return Tag(kind, lower, closes or kind == "end")
    if kind == "thought" and found["alone"]:
        return Tag("special", lower, closes)  # An empty thought.
    if kind == "special":
        return Tag(kind, lower, closes)
    return Tag(kind, _core(words), closes)


def _kind_in_bracket(name: str, words: list[str]) -> Kind:
    """Return the kind of a tag in square, round or other brackets."""
    if name in _SQUARE_TOKENS:
        return "special"
    if name.isupper() and words[0] == "tool":
        return "role"
    if words[0] == "cite" and words[-1] in ("start", "end"):
        return "special"
    core = _core(words)
    if core.count("_") > 1:
        return "text"
    if thinks(core) or thinks(name):
        return "thought"
    return "answer" if ANSWERS.search(core.replace("_", " ")) else "text"


def _kind_by_name(lower: str, closes: bool, piped: bool, words: list[str]) -> Kind | None:
    """Return the kind of a tag with a well-known name, or None."""
    if _CITES.fullmatch(lower):
        return "text"
    if piped and lower in OURS | OTHERS:
        return "role"
    if "channel" in words:
        return "channel"
    if lower in _TURNS or (piped and not {"header", "role"}.isdisjoint(words)):
        return "turn"
    if _ENDS.match(lower) or (lower == "s" and closes):
        return "end"
    if lower in _HTML:
        return "text"
    return None


def thinks(name: str) -> bool:
    """Return whether a name is that of a thought."""
    return _THINKS.search(name.replace("_", " ")) is not None


def _kind_by_words(
    lower: str, piped: bool, words: list[str]
) -> Literal["thought", "answer", "special", "unknown"]:
    """Return the kind of a tag by the words of its name."""
    spaced = " ".join(words)
    if _THINKS.search(spaced):
        return "thought"
    if ANSWERS.search(spaced):
        return "answer"
    if _TOKENS.fullmatch(lower):
        return "special"
    paired = len(words) > 1 and words[0] in ("begin", "start", "end") and words[-1] not in _NOUNS_OF_TURNS
    return "special" if piped and not paired else "unknown"


def _core(words: list[str]) -> str:
    """Return the name without the words for the beginning or the end of a pair."""
    kept: list[str] = []
    for word in words:
        if word not in ("begin", "start", "end", "close", "of"):
            kept.append(word)
    return "_".join(kept or words)
