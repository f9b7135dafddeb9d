"""Sentences of a chat model: found while its reply arrives, read plainly, shown with what they cite."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.citations import ends_behind, with_marks
from ragweave.components.evidence import Strip
from ragweave.components.labels import unlabelled
from ragweave.corpora.web.plain import one_line, verbatim
from ragweave.models.calendar import month_of
from ragweave.models.text import sentences

LEFT = (
    "The model wrote more than was asked for; the rest is left out. How long an answer may be is set by"
    " `sentences`."
)
REPORT = 20
"""Sentences from which an answer has paragraphs."""
LONGEST = 4_000
"""Characters of one sentence."""
_BEHIND = 400
"""Characters before an end by which it is judged, and of the last text by which is found what is settled."""
REFUSES = re.compile(
    r"(?:i(?:['’]m| am) (?:very )?sorry|sorry,|i (?:can(?:no|['’])t|am unable|am not able)|as an ai)\b"
    r"|(?:很?抱歉|对不起)",
    re.I,
)
_NO_PROSE = re.compile(r"(?:query|learnt|missing)\s*[:：]|<\|?(?:tool|function)|[\[{]\s*[\"'{]", re.I)
"""What a model says to a program and not to a reader."""
_MARK = re.compile(r"\s*[\[【](\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*)[\]】]")
_END = re.compile(
    r"(?:[.!?…][\"'”’)]*|[。！？][」』”’）]*)(?:\s*[\[【]\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*[\]】])*|\n"
)
_CITED = re.compile(r"[\]】][.。!?\s]*\Z")
"""The end of a sentence that cites."""
_LOOKED_AT = 1_000
"""Characters of a reply by which is told how it begins."""
_CAPTION = re.compile(r"[\"“„«](?:\w+ )?\d+\.$")
_ORDINAL, _NEXT = re.compile(r"(?<![\w.,])\d{1,2}\.$"), re.compile(r"(\w+)\W")
_WORDS = re.compile(r".*[^\W\d_](?=\W)", re.S)
"""All up to where the last word ends: the end of a sentence (quotes, marks, blanks) has no letter."""
_FORMATTING = re.compile(r"^\s*(?:[-*•]|#{1,6}|\d{1,2}[.)](?!\d))\s+")
_LISTED = re.compile(r"\s*([-*•|]|\d{1,2}[.)])(?:\s+(?=\S)|(?<=\|))")
"""A line of a list or of a table, which is told whole."""
_FRAME = re.compile(r"[\s|:`~*_-]*")
"""What only frames: the line under the heads of a table."""
_OPENS = re.compile(r"\s*(?:(?P<code>```+(?P<named>[\w+#.-]{0,20})[^\S\n]*\n)|(?P<dollars>\$\$)|\\\[)")
"""The begin of what is told whole: a fence of code, a formula that stands alone."""
_CLOSES = {
    "code": re.compile(r"^ {0,3}```+", re.M),
    "dollars": re.compile(r"\$\$"),
    None: re.compile(r"\\\]"),
}
_CODE = re.compile(
    r"\s*```+(?P<named>[\w+#.-]{0,20})[^\S\n]*\n(?P<lines>.*?)(?:^ {0,3}```+(?P<behind>[^`]*))?", re.S | re.M
)
_ENDS = re.compile(r"[.!?…。！？][\"'”’)」』”’）*_]*\s*$")
_TITLE = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)")
_SHORT = 4
"""Words of a line that frames an answer and says nothing: a greeting, who signs."""
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_BOXED = re.compile(r"\$*\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}\$*")
_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}")
_URL = re.compile(r"\b(?:https?|ftp)://\S+", re.I)
_BEHIND_ADDRESS = ".,;:!?)]}>\"'`*。，；：！？）】」』”’"
"""Signs that end a sentence or a bracket behind an address."""
_INLINE = re.compile(r"(`[^`\n]+`)")
"""Code within a line, which stands as it is: `argv[1]` cites nothing."""


def long(sentences: int) -> str:
    """Say how long an answer of at most so many sentences is to be; 0: no limit."""
    if not sentences:
        return "as many sentences as the question needs"
    most = {1: "one sentence", 2: "one or two sentences", 3: "one to three sentences"}.get(sentences)
    if most is None and sentences >= REPORT:
        return f"a report of several paragraphs, at most {sentences} sentences"
    return f"{most or f'a paragraph of at most {sentences} sentences'} (a table, list, letter or code whole)"


async def complete_sentences(tokens: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield each sentence with its marks as soon as it is surely complete; the rest at the end of the stream."""
    buffer, judged = "", 0
    async for token in tokens:
        buffer += token
        while (end := boundary(buffer, judged)) is not None:
            sentence, buffer, judged = trimmed(buffer[:end]), buffer[end:], 0
            if sentence:
                yield sentence
        judged = settled_to(buffer, judged)
    for sentence in split(buffer):
        yield sentence


def split(text: str) -> list[str]:
    """Return the sentences of a whole text, each with the marks behind it and the ends of line before it."""
    out = []
    while (end := boundary(text)) is not None:
        out.append(trimmed(text[:end]))
        text = text[end:]
    return [s for s in [*out, trimmed(text)] if s]


def trimmed(text: str) -> str:
    """Return a sentence without white space around it, but for the ends of line before it."""
    said = text.strip()
    return "\n" * min(2, text[: text.find(said)].count("\n")) + said if said else ""


def settled_to(buffer: str, judged: int) -> int:
    """Return up to where no more text can end a sentence in what has come; up to `judged` that is known."""
    since = max(judged, len(buffer) - _BEHIND)
    found = _WORDS.match(buffer, since)
    if found is None:
        return judged
    # A mark belongs to the end of the sentence before it, with its letters and stops.
    settled = found.end()
    for m in _END.finditer(buffer, since):
        end = ends_behind(buffer, m.end())
        if end is None or not buffer[end:].strip() or m.start() < settled < end:
            return max(judged, min(settled, m.start()))
    return settled


def boundary(buffer: str, judged: int = 0) -> int | None:
    """Return the end of the first sentence, or None while more text could still belong to it.

    What ends before `judged` was found to be no end: a reply that never ends a sentence is read once and not
    again with each token.
    """
    listed = _LISTED.match(buffer)
    if (opened := _OPENS.match(buffer)) is not None:
        kind = "code" if opened["code"] else opened.lastgroup
        closed = _CLOSES[kind].search(buffer, opened.end())
        if closed is None:
            return None
        listed, judged = listed or (opened if kind == "code" else None), max(judged, closed.end())
    past = 0
    for m in _END.finditer(buffer, judged):
        if m.start() < past:
            continue  # within a mark: “[ref. 1]”
        if m.group() != "\n" and (listed or _in_code(buffer, m.start())):
            continue
        end = m.end() if m.group() == "\n" else ends_behind(buffer, m.end())
        if end is None:
            return None
        past = end
        rest = buffer[end:]
        follows = rest.lstrip()
        # A mark may still come, and a full stop inside a number or an abbreviation ends nothing.
        if not follows or follows[0] in "[【":
            continue
        if m.group() == "\n":
            if buffer[: m.end()].strip():
                return m.start()
            continue
        if m.group()[0] in "。！？" or (rest[0] != follows[0] and _ends(buffer, end, follows)):
            return end
    return None


def _ends(buffer: str, end: int, follows: str) -> bool:
    """Tell whether a sentence ends at a full stop and its marks; it may be of a date, number or abbreviation."""
    before, next_word = with_marks(buffer[max(0, end - _BEHIND) : end]), _NEXT.match(follows)
    if _ORDINAL.search(before) and (not next_word or month_of(next_word[1])):
        return False  # “am 1. September”, or what may become that
    if _CAPTION.search(before):
        return False  # “Figure 1. The parts of the hive”
    whole = sentences(f"{_MARK.sub('', before).strip()} {next_word[1] if next_word else 'Next'}")
    return len(whole) > 1


def _in_code(text: str, at: int) -> bool:
    """Tell whether code is open in the line before a place."""
    return text.count("`", text.rfind("\n", 0, at) + 1, at) % 2 == 1


def marks(sentence: str) -> list[int]:
    """Return the numbers that a sentence cites, in order; code is cited behind its end."""
    if code := _CODE.fullmatch(sentence):
        sentence = code["behind"] or ""
    prose = _INLINE.sub("", sentence)
    return list(dict.fromkeys(int(n) for m in _MARK.finditer(prose) for n in re.findall(r"\d+", m[1])))


def marked(sentence: str, shown: int = 0) -> str:
    """Return a sentence with all marks written as `[1]`, of so many documents shown; code stays as it is."""
    if _CODE.fullmatch(sentence):
        return sentence
    parts = _INLINE.split(sentence)
    parts[::2] = (with_marks(part, shown) for part in parts[::2])
    return "".join(parts)


def begins_cited(begun: str) -> bool:
    """Tell whether a reply begins as an answer over documents: its first sentence cites, or says UNKNOWN."""
    end = boundary(begun[:_LOOKED_AT])
    first = marked(begun if end is None else begun[:end]).strip()
    return first.upper().startswith("UNKNOWN") or (end is not None and _CITED.search(first) is not None)


def plain(sentence: str, evidence: str = "") -> str:
    """Return a sentence without marks, list signs and links: what a model wrote is shown as text only.

    An address stays if the evidence has it word for word; an invented one could carry away what was read.
    """
    parts = _INLINE.split(sentence)
    parts[::2] = (_MARK.sub("", _LINK.sub(r"\1", part)).replace("**", "") for part in parts[::2])
    text = _BOXED.sub(_unboxed, "".join(parts))
    text = _URL.sub(lambda m: _known(m.group(), evidence), text)
    if _FRAME.fullmatch(text):
        return ""
    text = text.strip().strip("|") if text.lstrip().startswith("|") else text
    return " ".join(_FORMATTING.sub("", text).split())


def _unboxed(m: re.Match[str]) -> str:
    """Return what stands in a box of LaTeX, in which models put the result of a sum."""
    return _TEXT.sub(r"\1", m[1])


def _known(address: str, evidence: str) -> str:
    """Return an address where the evidence has it as a whole, else “…”; and the signs behind it."""
    said = address.rstrip(_BEHIND_ADDRESS)
    known = any(m.group().rstrip(_BEHIND_ADDRESS) == said for m in _URL.finditer(evidence))
    return (said if known else "…") + address[len(said) :]


def as_shown(sentence: str, evidence: str = "") -> str:
    """Return a sentence as it is shown: code as it stands, anything else plain and on one line."""
    code = _CODE.fullmatch(sentence)
    return one_line(plain(sentence, evidence), LONGEST) if code is None else verbatim(code["lines"], LONGEST)


def sign(sentence: str) -> str:
    """Return the sign of a line: `-` or `2.` of a list, `|` of the row of a table, “```python” of code.

    Of prose the ends of line before it, nothing where it goes on in its line.
    """
    if code := _CODE.fullmatch(sentence):
        return f"```{code['named']}"
    found = _LISTED.match(sentence)
    if found is None:
        return sentence[: len(sentence) - len(sentence.lstrip("\n"))]
    return "-" if found[1] in "*•" else found[1].replace(")", ".")


def counts(sentence: str) -> bool:
    """Tell whether a sentence counts for the length of an answer; rows, items, code and framing lines do not."""
    return not sign(sentence).strip() and bool(_ENDS.search(_MARK.sub("", with_marks(sentence))))


class Room:
    """How much of an answer is told: so many sentences that count."""

    def __init__(self, most: int) -> None:
        self._left = most

    def takes(self, sentence: str) -> bool:
        """Tell whether there is room for one more."""
        self._left -= counts(sentence)
        return self._left >= 0


def frames(sentence: str, before: str | None) -> bool:
    """Tell whether a line without a mark only frames an answer: heads of a table or part, a greeting, a lead-in.

    `before` is the sign of what was told before it, None where nothing was.
    """
    kind, text = sign(sentence), as_shown(sentence)
    if marks(sentence) or (kind.strip() and kind != "|"):
        return False
    if kind == "|":
        return before != "|"
    if text.endswith((":", "：")) or (
        _TITLE.match(sentence) and (before is not None or sentence.lstrip()[0] == "#")
    ):
        return True
    few = len(text.split()) <= _SHORT and not re.search(r"\d", text) and not _ENDS.search(text)
    return few and (text.endswith((",", "，")) or (before is not None and bool(kind)))


def tell(raw: str, rows: Sequence[Sequence[Strip]], builder: AnswerBuilder, cites: bool = True) -> None:
    """Offer a sentence to the page, with what it cites of the numbered rows; a refusal is not shown."""
    raw = marked(raw if builder.last is not None else unlabelled(raw), len(rows))
    known = [s["text"] for row in rows for s in row if s["origin"] == "library"] if _URL.search(raw) else []
    text, kind = as_shown(raw, "\n".join(known)), sign(raw)
    if not text or (not kind.strip() and (_NO_PROSE.match(text) or (REFUSES.match(text) and not marks(raw)))):
        return
    if frames(raw, builder.last):
        builder.frame(text, kind)
    elif not any(rows):
        builder.tell_unsourced(text, kind)
    else:
        named = [s for n in marks(raw) if cites and 1 <= n <= len(rows) for s in rows[n - 1]]
        # A row or an item rests on what the line before it named.
        builder.named = named or (builder.named if kind.strip() else [])
        builder.tell(text, builder.named, [s for row in rows for s in row], kind)
