"""Find the sentences of a chat model's reply while it arrives, and show them as plain text with citations."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.citations import with_marks
from ragweave.components.evidence import Strip
from ragweave.components.footers import credit, lists_sources
from ragweave.components.labels import unlabelled
from ragweave.components.sentence_ends import LISTED, MARK, boundary, settled_to
from ragweave.components.spoken_marks import numbered, with_titles
from ragweave.corpora.web.plain import one_line, verbatim

LEFT = (
    "The model wrote more than was asked for; the rest is left out. How long an answer may be is set by"
    " `sentences`."
)
REPORT = 20
"""Sentences from which an answer is a report in paragraphs."""
LONGEST = 4_000
"""Characters of one sentence."""
REFUSES = re.compile(
    r"(?:i(?:['’]m| am) (?:very )?sorry|sorry,|i (?:can(?:no|['’])t|am unable|am not able)|as an ai)\b"
    r"|(?:很?抱歉|对不起)",
    re.I,
)
_NO_PROSE = re.compile(r"(?:query|learnt|missing)\s*[:：]|</?\|?(?:tool|function)|[\[{]\s*[\"'{]", re.I)
"""Matches a line that is meant for a program and not for a reader."""
_CITED = re.compile(r"[\]】][.。!?\s]*\Z")
"""The end of a sentence that cites."""
_BEGINNING = 1_000
"""Characters of a reply that decide how it begins."""
_FORMATTING = re.compile(r"^\s*(?:[-*•>]|#{1,6}|\d{1,2}[.)](?!\d))\s+")
_FRAME = re.compile(r"[\s|:`~*_-]*")
"""Matches a line without words, such as the one under the headings of a table."""
_CODE = re.compile(
    r"\s*```+(?P<named>[\w+#.-]{0,20})[^\S\n]*\n(?P<lines>.*?)(?:^ {0,3}```+(?P<behind>[^`]*))?", re.S | re.M
)
_ENDS = re.compile(r"[.!?…。！？][\"'”’)」』”’）*_]*\s*$")
_TITLE = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)")
_SHORT = 4
"""Words of a line that frames an answer without a statement, such as a greeting or a signature."""
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_BOXED = re.compile(r"\$*\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}\$*")
_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}")
_URL = re.compile(r"\b(?:https?|ftp)://\S+", re.I)
_BEHIND_ADDRESS = ".,;:!?)]}>\"'`*。，；：！？）】」』”’"
"""Characters behind an address that end a sentence or a bracket."""
_DEFINES = re.compile(r"\s*\[\^[^\]\n]{1,20}\]:")
"""Matches the beginning of a footnote at the end of a text."""
_LEADING = re.compile(r"\A\s*(?:\[[1-9]\d{0,2}\])+\s*[:：–—-]\s*(?=\S)")
"""Matches marks before a line with the sign behind them."""
_INLINE = re.compile(r"(`[^`\n]+`)")
"""Matches code within a line, which is not changed: `argv[1]` cites nothing."""


def long(sentences: int) -> str:
    """Return the words of a prompt for the length of an answer in sentences; 0 means no limit."""
    if not sentences:
        return "as many sentences as the question needs"
    if sentences >= REPORT:
        return f"a report of several paragraphs, at most {sentences} sentences"
    few = {1: "one sentence", 2: "one or two sentences", 3: "one to three sentences"}
    most = few.get(sentences, f"a paragraph of at most {sentences} sentences")
    return f"{most} (a table, list, letter or code whole)"


async def complete_sentences(tokens: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield each sentence with its marks once it is surely complete; the rest at the end of the stream."""
    buffer = ""
    judged = 0
    async for token in tokens:
        buffer += token
        end = boundary(buffer, judged)
        while end is not None:
            sentence = trimmed(buffer[:end])
            buffer = buffer[end:]
            judged = 0
            if sentence:
                yield sentence
            end = boundary(buffer)
        judged = settled_to(buffer, judged)
    for sentence in split(buffer):
        yield sentence


def split(text: str) -> list[str]:
    """Return the sentences of a whole text, each with the marks behind it and the line breaks before it."""
    out = []
    end = boundary(text)
    while end is not None:
        out.append(trimmed(text[:end]))
        text = text[end:]
        end = boundary(text)
    out.append(trimmed(text))
    return [sentence for sentence in out if sentence]


def trimmed(text: str) -> str:
    """Return a sentence without white space around it, except for up to two line breaks before it."""
    sentence = text.strip()
    if not sentence:
        return ""
    breaks = text[: text.find(sentence)].count("\n")
    return "\n" * min(2, breaks) + sentence


def marks(sentence: str) -> list[int]:
    """Return the numbers that a sentence cites, in order; for code, those behind its end."""
    code = _CODE.fullmatch(sentence)
    if code:
        sentence = code["behind"] or ""
    numbers: list[int] = []
    for match in MARK.finditer(_INLINE.sub("", sentence)):
        numbers += map(int, re.findall(r"\d+", match[1]))
    return list(dict.fromkeys(numbers))


def marked(sentence: str, shown: int = 0) -> str:
    """Return a sentence with all its marks written as `[1]`; code is not changed.

    `shown` is the number of documents that were shown.
    """
    if _CODE.fullmatch(sentence):
        return sentence
    return _outside_inline_code(sentence, lambda prose: with_marks(prose, shown))


def _outside_inline_code(sentence: str, change: Callable[[str], str]) -> str:
    """Return a sentence with all parts changed that are not inline code."""
    parts = _INLINE.split(sentence)
    for n in range(0, len(parts), 2):  # code has the odd positions
        parts[n] = change(parts[n])
    return "".join(parts)


def begins_cited(begun: str) -> bool:
    """Return whether the first sentence of a reply cites a document or says UNKNOWN."""
    end = boundary(begun[:_BEGINNING])
    first = marked(begun if end is None else begun[:end]).strip()
    return first.upper().startswith("UNKNOWN") or (end is not None and _CITED.search(first) is not None)


def plain(sentence: str, evidence: str = "") -> str:
    """Return a sentence as plain text, without marks, list signs and links.

    An address stays only if the evidence contains it: an invented one could send away what the model read.
    """
    text = _outside_inline_code(sentence, _without_links)
    text = _BOXED.sub(_unboxed, text)
    text = _URL.sub(lambda match: _known(match.group(), evidence), text)
    if _FRAME.fullmatch(text):
        return ""
    if text.lstrip().startswith("|"):
        text = text.strip().strip("|")
    return " ".join(_FORMATTING.sub("", text).split())


def _without_links(prose: str) -> str:
    """Return prose without marks and bold signs, and with the text of its links only."""
    return MARK.sub("", _LEADING.sub("", _LINK.sub(r"\1", prose), count=1)).replace("**", "")


def _unboxed(match: re.Match[str]) -> str:
    """Return the content of a LaTeX box, in which models put the result of a calculation."""
    return _TEXT.sub(r"\1", match[1])


def _known(address: str, evidence: str) -> str:
    """Return an address if the evidence contains it as a whole, else “…”; punctuation behind it stays."""
    bare = address.rstrip(_BEHIND_ADDRESS)
    behind = address[len(bare) :]
    for match in _URL.finditer(evidence):
        if match.group().rstrip(_BEHIND_ADDRESS) == bare:
            return bare + behind
    return f"…{behind}"


def as_shown(sentence: str, evidence: str = "") -> str:
    """Return a sentence as it is shown: code word for word, anything else plain and on one line."""
    code = _CODE.fullmatch(sentence)
    if code is None:
        return one_line(plain(sentence, evidence), LONGEST)
    return verbatim(code["lines"], LONGEST)


def sign(sentence: str) -> str:
    """Return the sign of a line: `-` or `2.` of a list, `|` of the row of a table, “```python” of code.

    For prose, return the line breaks before it, which are none if it continues a line.
    """
    code = _CODE.fullmatch(sentence)
    if code:
        return f"```{code['named']}"
    found = LISTED.match(sentence)
    if found is None:
        return sentence[: len(sentence) - len(sentence.lstrip("\n"))]
    return "-" if found[1] in "*•" else found[1].replace(")", ".")


def counts(sentence: str) -> bool:
    """Return whether a sentence counts for the length of an answer.

    Rows, items, code and framing lines do not count.
    """
    if sign(sentence).strip():
        return False
    return _ENDS.search(MARK.sub("", with_marks(sentence))) is not None


class Room:
    """Count the sentences of an answer down from the most that are shown."""

    def __init__(self, most: int) -> None:
        self._left = most

    def takes(self, sentence: str) -> bool:
        """Count a sentence, and return whether it may be shown."""
        if counts(sentence):
            self._left -= 1
        return self._left >= 0


def frames(sentence: str, before: str | None) -> bool:
    """Return whether a line without a mark only frames an answer.

    Such lines are headings, a greeting, and a lead-in to a list.

    Args:
        sentence: the line.
        before: sign of the line before it, None for the first line.
    """
    kind = sign(sentence)
    if marks(sentence) or (kind.strip() and kind != "|"):
        return False
    if kind == "|":
        return before != "|"
    text = as_shown(sentence)
    if text.endswith((":", "：")):
        return True
    if _TITLE.match(sentence) and (before is not None or sentence.lstrip()[0] == "#"):
        return True
    is_short = len(text.split()) <= _SHORT and not re.search(r"\d", text) and not _ENDS.search(text)
    if not is_short:
        return False
    on_own_line = before is not None and bool(kind)
    return text.endswith((",", "，")) or on_own_line


def tell(raw: str, rows: Sequence[Sequence[Strip]], builder: AnswerBuilder, cites: bool = True) -> None:
    """Show a sentence of a chat model with the strips that it cites; a refusal is not shown.

    Args:
        raw: the sentence as the model wrote it.
        rows: the strips that the model was shown, by number.
        builder: shows the sentence.
        cites: whether the numbers in the sentence are citations.
    """
    if builder.last is None:
        raw = unlabelled(raw)
    defines, labels = _DEFINES.match(raw), raw.lstrip("\n *_")[:1].isalpha()
    raw = _numbered(raw, rows) if cites else marked(raw, len(rows))
    known = [strip for row in rows for strip in row]
    kind = sign(raw)
    text = _shown_text(raw, rows, kind, cites)
    cited = _cited(raw, rows) if cites else []
    if not text or defines or lists_sources(text, raw, known, builder):
        credit(builder, cited, alone=not (text or labels))
        return
    if _is_no_answer(text, raw, kind):
        return
    builder.heading = ""
    if frames(raw, builder.last):
        builder.frame(text, kind, text.endswith((":", "：")) or _TITLE.match(raw) is not None)
        builder.heading = text
    elif known:
        # A row or an item without a mark rests on what the line before it cites.
        named = cited or (list(builder.named) if kind.strip() else [])
        builder.named = named
        builder.tell(text, named, known, kind)
    else:
        builder.tell_unsourced(text, kind)


def _shown_text(raw: str, rows: Sequence[Sequence[Strip]], kind: str, cites: bool) -> str:
    """Return a line as it is shown, with titles for marks that it uses as words; "" if it has marks only."""
    worded = with_titles(raw, rows) if cites and not kind.strip() else raw
    known = [strip for row in rows for strip in row]
    text = as_shown(worded, _library_text(known) if _URL.search(raw) else "")
    if marks(raw) and not re.search(r"\w", text):
        return ""
    return text


def _numbered(raw: str, rows: Sequence[Sequence[Strip]]) -> str:
    """Return a sentence with all its marks, and the documents that it names, written as `[1]`."""
    raw = marked(raw, len(rows))
    if _CODE.fullmatch(raw):
        return raw
    return _outside_inline_code(raw, lambda prose: numbered(prose, rows))


def _library_text(strips: Sequence[Strip]) -> str:
    """Return the text of the strips that come from the library."""
    return "\n".join(strip["text"] for strip in strips if strip["origin"] == "library")


def _is_no_answer(text: str, raw: str, kind: str) -> bool:
    """Return whether a line of prose is meant for a program, or is a refusal without a source."""
    if kind.strip():
        return False
    if _NO_PROSE.match(text):
        return True
    return REFUSES.match(text) is not None and not marks(raw)


def _cited(raw: str, rows: Sequence[Sequence[Strip]]) -> list[Strip]:
    """Return the strips of the rows that a sentence cites by number."""
    strips: list[Strip] = []
    for number in marks(raw):
        if 1 <= number <= len(rows):
            strips += rows[number - 1]
    return strips
