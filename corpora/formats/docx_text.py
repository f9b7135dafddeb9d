"""The text of a paragraph of Word: runs, breaks, symbols, fields of forms and equations, as a reader sees them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from ragweave.corpora.formats.equation import M, equation
from ragweave.corpora.formats.numbering import FALLBACK
from ragweave.corpora.formats.ooxml import W, attribute
from ragweave.corpora.formats.superscript import around
from ragweave.corpora.formats.symbols import TICKED, UNTICKED, is_symbolic, shown, symbol

SKIPPED = frozenset(f"{W}{tag}" for tag in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr"))
_TINY = 4
"""Half points of a font that nobody reads."""
_SCRIPTS = ("superscript", "subscript")
_BREAKS = {
    **{f"{W}{tag}": "\t" for tag in ("tab", "ptab")},
    **{f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"},
}
_FIELDS = (f"{W}fldChar", f"{W}instrText", f"{W}fldSimple")


def text_of(paragraph: Any) -> str:
    """Return a paragraph's text; text boxes inside it are paragraphs of their own."""
    out: list[tuple[str, str]] = []
    script = font = ""
    fields = _Fields()
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        if element.tag == f"{W}r":
            if is_unseen(element):
                continue
            script = attribute(element, f"{W}rPr/{W}vertAlign", f"{W}val")
            font = _font(element)
        if element.tag == f"{M}oMath":
            out.append((equation(element), ""))
        elif element.tag == f"{W}t":
            out.append((shown(element.text or "", font), script))
        elif element.tag == f"{W}sym":
            out.append((_numbered(element.get(f"{W}font") or "", element.get(f"{W}char") or "", 16), script))
        elif element.tag in _BREAKS:
            out.append((_BREAKS[element.tag], ""))
        elif element.tag in _FIELDS and (said := fields.take(element)):
            out.append((said, ""))
        if element.tag not in SKIPPED and element.tag not in (f"{W}p", f"{W}tbl", FALLBACK, f"{M}oMath"):
            stack.extend(reversed(element))
    lines = [" ".join(line.split()) for line in _joined(out).split("\n")]
    return "\n".join(line for line in lines if line)


class _Fields:
    """The fields of a paragraph: what those show that store no text for it."""

    def __init__(self) -> None:
        self._open: list[str] = []
        """What the open fields do, from the outermost."""

    def take(self, element: Any) -> str:
        """Return what a field shows here, "" for one whose text is stored in runs."""
        if element.tag == f"{W}instrText":
            if self._open:
                self._open[-1] += element.text or ""
            return ""
        if element.tag == f"{W}fldSimple":
            has_text = next(element.iter(f"{W}t", f"{W}sym"), None) is not None
            return "" if has_text else _computed(element.get(f"{W}instr") or "")
        kind = element.get(f"{W}fldCharType")
        if kind == "begin":
            self._open.append("")
            return _form(element.find(f"{W}ffData"))
        if kind == "separate" and self._open:
            self._open[-1] = ""  # what it shows follows
        return _computed(self._open.pop()) if kind == "end" and self._open else ""


def _form(field: Any) -> str:
    """Return what is entered in a field of a form: the mark of a box, or the entry that is chosen."""
    if field is None:
        return ""
    box, chosen = field.find(f"{W}checkBox"), field.find(f"{W}ddList")
    if box is not None:
        states = [
            e.get(f"{W}val", "1")
            for name in ("checked", "default")
            if (e := box.find(f"{W}{name}")) is not None
        ]
        return TICKED if states and states[0] not in ("0", "false", "off") else UNTICKED
    if chosen is None:
        return ""
    entries = [e.get(f"{W}val") or "" for e in chosen.iterchildren(f"{W}listEntry")]
    said = attribute(field, f"{W}ddList/{W}result", f"{W}val") or attribute(
        field, f"{W}ddList/{W}default", f"{W}val"
    )
    at = int(said) if said.isdecimal() and len(said) < 9 else 0
    return entries[at] if at < len(entries) else ""


def _computed(instruction: str) -> str:
    """Return what a field shows that has no stored text: a symbol, or the words of a button."""
    words = instruction.replace('"', " ").split()
    if not words:
        return ""
    if words[0].upper() == "SYMBOL" and len(words) > 1:
        font = instruction.partition("\\f")[2].strip()
        quoted = font.split('"')[1] if font.startswith('"') else ""
        base = 16 if words[1].lower().startswith("0x") else 10
        return _numbered(quoted or " ".join(font.split()[:1]), words[1], base)
    return " ".join(words[2:]) if words[0].upper() in ("MACROBUTTON", "GOTOBUTTON") else ""


def _numbered(font: str, said: str, base: int) -> str:
    """Return the character of a font whose number is said, "" where that is no number."""
    try:
        return symbol(font, int(said, base))
    except ValueError:
        return ""


def _font(run: Any) -> str:
    """Return the font of a run if its letters are pictures, else ""."""
    fonts = run.find(f"{W}rPr/{W}rFonts")
    names = [] if fonts is None else [fonts.get(f"{W}{name}") or "" for name in ("ascii", "hAnsi")]
    return next((name for name in names if is_symbolic(name)), "")


def _joined(runs: list[tuple[str, str]]) -> str:
    """Join the texts of runs; what is raised or lowered is parted from the number or word before it."""
    text = ""
    for script, group in groupby(runs, key=lambda run: run[1]):
        part = "".join(t for t, _ in group)
        lead, behind = around(text, part, below=script == "subscript") if script in _SCRIPTS else ("", "")
        text += lead + part + behind
    return text


def is_unseen(run: Any) -> bool:
    """Tell a run that a reader of the document does not see: marked as hidden, of two points, or white on nothing."""
    vanish = run.find(f"{W}rPr/{W}vanish")
    if vanish is not None and vanish.get(f"{W}val") not in ("0", "false"):
        return True
    size = attribute(run, f"{W}rPr/{W}sz", f"{W}val")
    if size.isdigit() and int(size) <= _TINY:
        return True
    if (
        attribute(run, f"{W}rPr/{W}color", f"{W}val").upper() != "FFFFFF"
        or run.find(f"{W}rPr/{W}highlight") is not None
    ):
        return False
    shades = [run.find(f"{W}rPr/{W}shd"), *(e.find(f"{e.tag}Pr/{W}shd") for e in run.iterancestors())]
    return all(s is None or s.get(f"{W}fill", "auto").upper() in ("AUTO", "FFFFFF") for s in shades)
