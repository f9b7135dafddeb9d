"""Manual pages: the troff that they are written in, and what `man` prints of it."""

from __future__ import annotations

import re

from ragweave.corpora.blocks import Block, Lines

_SOURCE = re.compile(r"(?:[.']\\\".*\n|\s*\n)*\.(?:TH|Dd|Dt)[ \t]")
_PRINTED = re.compile(r"\s*(\S{1,60}\(\d\w{0,4}\))[ \t]{2,}\S.*[ \t]{2,}\1[ \t]*\n")
_FOOT = re.compile(r"\S.*[ \t]{3,}(?:\S.*[ \t]{3,})?\S+\(\d\w{0,4}\)[ \t]*\Z")
_HEADS = {"SH": 2, "Sh": 2, "SS": 3, "Ss": 3}
_BREAKS = frozenset("PP P LP Pp TP IP TQ HP It Bl El nf fi EX EE RS RE sp br".split())
_QUIET = frozenset("TH Dd Dt Os ds de if ie el so ad na nh hy in ta ft ps tr UR UE MT ME".split())
_ESCAPES = (
    (re.compile(r"\\\".*"), ""),
    (re.compile(r"\\f(?:\[\w*\]|\(\w\w|\w)|\\s[-+]?\d|\\[&|^/,%c]"), ""),
    (re.compile(r"\\\((?:em|en)|\\\[(?:em|en)\]"), "–"),
    (re.compile(r"\\\((?:aq|oq|cq)|\\\[(?:aq|oq|cq)\]"), "'"),
    (re.compile(r"\\\((?:dq|lq|rq)|\\\[(?:dq|lq|rq)\]"), '"'),
    (re.compile(r"\\-"), "-"),
    (re.compile(r"\\[ ~0]"), " "),
    (re.compile(r"\\e|\\\\"), r"\\"),
)


def source(text: str) -> tuple[str, tuple[Block, ...]] | None:
    """Return title and blocks of a manual page in troff (man or mdoc macros); None for another text."""
    if not _SOURCE.match(text):
        return None
    out: list[Block] = []
    title, held, term = "", Lines(), ""
    for number, line in enumerate(text.split("\n"), 1):
        macro, _, rest = line[1:].lstrip().partition(" ") if line[:1] in (".", "'") else ("", "", line)
        if macro.startswith('\\"'):
            continue
        said = _plain(rest)
        if macro in ("TH", "Dt"):
            name = said.split()
            title = f"{name[0].lower()}({name[1]})" if len(name) > 1 else said
        if macro in _HEADS or macro in _BREAKS:
            out += [held.block("text")] if held.count else []
            held, term = Lines(), ""
        if macro in _HEADS:
            out.append(Block(said, "heading", _HEADS[macro], number))
        elif macro in ("IP", "It") and said:
            term = said
        elif macro not in _QUIET and macro not in _BREAKS and said:
            held.add(f"{term}: {said}" if term else said, number, wrapped=not macro or bool(held.count))
            term = ""
    return title, (*out, *([held.block("text")] if held.count else []))


def printed(text: str) -> tuple[str, str] | None:
    """Return title and text of a printed manual page without its head and foot lines; None for another text."""
    m = _PRINTED.match(text)
    if m is None:
        return None
    lines = text.rstrip().split("\n")
    head = text[: m.end()].count("\n") - 1
    lines[head] = ""
    if _FOOT.match(lines[-1].strip()):
        lines[-1] = ""
    return m[1].lower(), "\n".join(lines)


def is_section(line: str) -> bool:
    """Tell the name of a section of a printed page: capitals at the margin."""
    return line[:1].isalpha() and line.upper() == line and len(line) <= 60


def _plain(line: str) -> str:
    for form, to in _ESCAPES:
        line = form.sub(to, line)
    return " ".join(line.replace('"', " ").split()) if '"' in line else line.strip()
