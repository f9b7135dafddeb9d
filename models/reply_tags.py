"""Recognise tags in the replies of models by their shape and the words of their names."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["thought", "answer", "channel", "turn", "role", "end", "special", "unknown", "text"]

_NAME = r"(?:0x[0-9A-Fa-f]{2}|[^\W\d][\w:.▁ -]{0,40})"
TAG = re.compile(
    rf"<(?P<lead>[|｜])(?P<slash>/?)(?P<pipe>[^\s|｜<>][^|｜<>\n]{{0,40}})[|｜]?>"
    rf"|<(?P<tail>[^\s|｜<>/][^|｜<>\n]{{0,40}})[|｜]>"
    rf"|[<＜◁⟨〈⟪] ?(?P<close>/?) ?(?P<name>{_NAME})(?:[ \t][^<>\n]{{0,60}})?(?P<alone>/?)[>＞▷⟩〉⟫]"
    r"|\[(?P<shut>/?)(?P<square>[^\W\d]\w{1,24})\](?!\()"
    r"|(?P<fence>```+)|(?P<code>`[^`\n]{1,200}`)"
)
BEGUN = re.compile(
    r"(?:<[^<>\n]{0,110}|[＜◁⟨〈⟪][^>＞▷⟩〉⟫\n]{0,110}|\[/?\w{0,25}|\[/?[^\W\d]\w{1,24}\]|`[^`\n]{0,200}|``+)\Z"
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
    thead title tr tt u ul var cite source ref doc document citation reference""".split()
)
_TOKENS = re.compile(
    r"eos|bos|pad|unk|sep|cls|mask|unused\d*|(?:end|start)_of_\w+|eo[ts]\w*|im_(?:start|end)|0x[0-9a-f]{2}"
)
"""Special tokens that are written as ordinary tags."""
_SQUARE_TOKENS = frozenset({"INST", "SYS", "EOS", "BOS", "PAD", "EOT"})
_SQUARE_THOUGHT = re.compile(r"(?:\w+ )?(?:think\w*|thoughts?|reason\w*|reflect\w*|analysis|scratchpad)")
_TURNS = frozenset({"im_start", "start_header_id", "start", "start_of_turn", "turn"})
"""Tokens that the name of a role follows."""
_ENDS = re.compile(r"(?:im_end|eot_id|eot|eos|eom_id|endoftext|end_of_(?:text|turn|sentence)|return)\Z")
OURS = frozenset({"assistant", "model", "bot", "ai", "chatbot", "gpt"})
OTHERS = frozenset("user human system developer tool function functions observation ipython".split())
AGAIN = re.compile(r"<[|｜]?(?:channel|im_start|start_header_id|start_of_turn|start)[|｜]?>")
_NOUNS_OF_TURNS = frozenset({"text", "sentence", "header", "turn", "box", "of"})
_WORDS = tuple(
    "think thought reason reflect scratch denk gedank überleg pensé pensa pense razon ragion 思 推理 考え".split()
)
"""Beginnings of the names of thoughts."""
_THOUGHT = rf"(?:{'|'.join(_WORDS)})\w{{0,12}}"
_ANSWER = r"(?:answer|response|reply|antwort|respuesta|réponse|risposta|ответ|答案|回答)"
_LABEL = r"[ \t]{0,3}(?:#{1,6}[ \t]{0,3}|[*_]{2})?"


class Phrase(NamedTuple):
    """A phrase that opens a thought at the head of a reply, and the pattern that closes the thought.

    If nothing closes it, the thought counts as text if `stays`.
    """

    opens: re.Pattern[str]
    until: re.Pattern[str]
    stays: bool = False


PHRASES = (
    Phrase(
        re.compile(r"\s*here(?:['’]s| is) my thought process:\s*", re.I),
        re.compile(r"here(?:['’]s| is) my response:\s*", re.I),
    ),
    Phrase(re.compile(r"\s*analysis(?=[A-Z\"“])"), re.compile(r"assistant\s*final")),
    Phrase(
        re.compile(
            r"\s*<details\b[^<>\n]{0,80}>\s{0,9}"
            rf"<summary>[^<>\n]{{0,40}}{_THOUGHT}[^<>\n]{{0,60}}</summary>",
            re.I,
        ),
        re.compile(r"</details>", re.I),
    ),
    Phrase(re.compile(rf"\s*```{_THOUGHT}[ \t]{{0,3}}\n", re.I), re.compile(r"\n```[ \t]*\n")),
    Phrase(
        re.compile(
            rf"\s*{_LABEL}(?:my )?{_THOUGHT}(?: process)?[ \t]{{0,3}}:?(?:[*_]{{2}})?:?[ \t]{{0,3}}\n", re.I
        ),
        re.compile(
            rf"\n{_LABEL}(?:final |my )?{_ANSWER}[ \t]*(?::(?:[*_]{{2}})?|[*_]{{2}}[ \t]*:?|\n)\s*"
            r"(?=[^\s*_]|[*_]{2}[^\s*_])",
            re.I,
        ),
        stays=True,
    ),
)


def may_open(text: str) -> bool:
    """Return whether the text that follows may complete the head of a reply to the opening of a thought."""
    head = text.lstrip().replace("’", "'").lower()
    for phrase in OPENINGS:
        if phrase.startswith(head):
            return True
    if head.startswith("<details"):
        return "</summary>" not in head and len(head) < 240
    if "\n" in head or len(head) > 60:
        return False
    rest = head.lstrip("#*_` \t").removeprefix("my ")
    for word in ("my ", *_WORDS):
        if word.startswith(rest) or rest.startswith(word):
            return True
    return False


OPENINGS = ("<details", "analysis", "here is my thought process:", "here's my thought process:")
"""Words instead of tags: Granite writes them, and harmony if the server dropped its special tokens."""
_CHANNEL = re.compile(r"\s{0,8}(?=\S)(?P<name>\w{1,40})?[^<>\n]{0,60}?(?:<[|｜]message[|｜]>|\n)")
_ROLE = re.compile(r"\s{0,8}(?P<role>\w{1,40})(?=\W)")
THOUGHT_LINES = ("thought\n", "thoughts\n", "thinking\n", "analysis\n")
FORMS = {"channel": _CHANNEL, "role": _ROLE, "thought": re.compile(rf"\s*(?:{'|'.join(THOUGHT_LINES)})")}


class Tag(NamedTuple):
    """A tag: its kind, its name, and whether it closes."""

    kind: Kind
    name: str
    closes: bool


def tag_of(found: re.Match[str]) -> Tag:
    """Read a tag by its shape and the words of its name."""
    piped = found["pipe"] or found["tail"]
    name = (piped or found["name"] or found["square"] or "").strip().replace("▁", "_")
    words = re.findall(r"[^\W_\d]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    lower = name.lower().replace(" ", "_")
    closes = bool(found["slash"] or found["close"] or found["shut"] or found["tail"])
    if not closes:
        closes = re.match(r"(?:end|close|stop)" + (r"\w" if piped else "_"), lower) is not None
    if found["square"]:
        return Tag(_kind_of_square(name, words), lower, closes)
    kind = _kind_by_name(lower, closes, bool(piped), words)
    if kind:
        return Tag(kind, lower, closes or kind == "end")
    kind = _kind_by_words(lower, bool(piped), words)
    if kind == "thought" and found["alone"]:
        return Tag("special", lower, closes)  # An empty thought.
    if kind == "special":
        return Tag(kind, lower, closes)
    return Tag(kind, _core(words), closes)


def _kind_of_square(name: str, words: list[str]) -> Kind:
    """Return the kind of a tag in square brackets."""
    if name in _SQUARE_TOKENS:
        return "special"
    one_case = name.isupper() or name.islower()
    return "thought" if one_case and _SQUARE_THOUGHT.fullmatch(" ".join(words)) else "text"


def _kind_by_name(lower: str, closes: bool, piped: bool, words: list[str]) -> Kind | None:
    """Return the kind of a tag with a well-known name, or None."""
    if piped and lower in OURS | OTHERS:
        return "role"
    if "channel" in words:
        return "channel"
    if lower in _TURNS:
        return "turn"
    if _ENDS.match(lower) or (lower == "s" and closes):
        return "end"
    if lower in _HTML:
        return "text"
    return None


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
