"""Read the text of a Word paragraph as a reader sees it, with its symbols, form fields and equations."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from ragweave.corpora.formats.equation import M, equation
from ragweave.corpora.formats.numbering import FALLBACK
from ragweave.corpora.formats.ooxml import W, attribute
from ragweave.corpora.formats.superscript import around
from ragweave.corpora.formats.symbols import TICKED, UNTICKED, is_symbolic, shown, symbol

SKIPPED = (f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}delText", f"{W}rPr", f"{W}pPr")
_TINY = 4
"""Half points of a font that is too small to read."""
_SCRIPTS = ("superscript", "subscript")
_BREAKS = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "-",
}
_FIELDS = (f"{W}fldChar", f"{W}instrText", f"{W}fldSimple")
_APART = (f"{W}p", f"{W}tbl", FALLBACK, f"{M}oMath")
"""Elements that are read on their own."""


def text_of(paragraph: Any) -> str:
    """Return a paragraph's text; text boxes inside it are paragraphs of their own."""
    runs: list[tuple[str, str]] = []
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
        if element.tag == f"{W}t":
            runs.append((shown(element.text or "", font), script))
        elif element.tag == f"{W}sym":
            character = _numbered(element.get(f"{W}font") or "", element.get(f"{W}char") or "", 16)
            runs.append((character, script))
        else:
            special = _special(element, fields)
            if special:
                runs.append((special, ""))
        if element.tag not in SKIPPED and element.tag not in _APART:
            stack.extend(reversed(element))
    lines = [" ".join(line.split()) for line in _joined(runs).split("\n")]
    return "\n".join(filter(None, lines))


def _special(element: Any, fields: _Fields) -> str:
    """Return the text of an equation, a break or a field, "" for any other element."""
    if element.tag == f"{M}oMath":
        return equation(element)
    if element.tag in _BREAKS:
        return _BREAKS[element.tag]
    return fields.take(element) if element.tag in _FIELDS else ""


class _Fields:
    """Reads the fields of a paragraph that store no text of their own."""

    def __init__(self) -> None:
        self._open: list[str] = []
        """The instructions of the open fields, outermost first."""

    def take(self, element: Any) -> str:
        """Return the text that a field shows here, "" if its text is stored in runs."""
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
            self._open[-1] = ""  # its text follows in runs
        return _computed(self._open.pop()) if kind == "end" and self._open else ""


def _form(field: Any) -> str:
    """Return the value of a form field: the mark of a box, or the chosen entry of a list."""
    if field is None:
        return ""
    box, choices = field.find(f"{W}checkBox"), field.find(f"{W}ddList")
    if box is not None:
        return _box(box)
    if choices is None:
        return ""
    entries = [entry.get(f"{W}val") or "" for entry in choices.iterchildren(f"{W}listEntry")]
    chosen = attribute(choices, f"{W}result", f"{W}val") or attribute(choices, f"{W}default", f"{W}val")
    at = int(chosen) if chosen.isdecimal() and len(chosen) < 9 else 0
    return entries[at] if at < len(entries) else ""


def _box(box: Any) -> str:
    """Return the mark of a check box, by its state or else by its default."""
    for name in ("checked", "default"):
        state = box.find(f"{W}{name}")
        if state is not None:
            return UNTICKED if state.get(f"{W}val", "1") in ("0", "false", "off") else TICKED
    return UNTICKED


def _computed(instruction: str) -> str:
    """Return the text of a field that stores none: a symbol, or the words of a button."""
    words = instruction.replace('"', " ").split()
    if not words:
        return ""
    if words[0].upper() == "SYMBOL" and len(words) > 1:
        font = instruction.partition("\\f")[2].strip()
        quoted = font.split('"')[1] if font.startswith('"') else ""
        base = 16 if words[1].lower().startswith("0x") else 10
        return _numbered(quoted or " ".join(font.split()[:1]), words[1], base)
    return " ".join(words[2:]) if words[0].upper() in ("MACROBUTTON", "GOTOBUTTON") else ""


def _numbered(font: str, number: str, base: int) -> str:
    """Return the character of a font with a number, "" if that is no number."""
    try:
        return symbol(font, int(number, base))
    except ValueError:
        return ""


def _font(run: Any) -> str:
    """Return the font of a run if its letters are pictures, else ""."""
    fonts = run.find(f"{W}rPr/{W}rFonts")
    if fonts is None:
        return ""
    for kind in ("ascii", "hAnsi"):
        name = fonts.get(f"{W}{kind}") or ""
        if is_symbolic(name):
            return str(name)
    return ""


def _joined(runs: list[tuple[str, str]]) -> str:
    """Join the texts of runs, with raised or lowered text kept apart from the number or word before it."""
    text = ""
    for script, group in groupby(runs, key=lambda run: run[1]):
        part = "".join([text for text, _ in group])
        if script in _SCRIPTS:
            lead, behind = around(text, part, below=script == "subscript")
            part = lead + part + behind
        text += part
    return text


def is_unseen(run: Any) -> bool:
    """Return whether a reader cannot see a run: it is hidden, of two points, or white on no background."""
    vanish = run.find(f"{W}rPr/{W}vanish")
    if vanish is not None and vanish.get(f"{W}val") not in ("0", "false"):
        return True
    size = attribute(run, f"{W}rPr/{W}sz", f"{W}val")
    if size.isdigit() and int(size) <= _TINY:
        return True
    if attribute(run, f"{W}rPr/{W}color", f"{W}val").upper() != "FFFFFF":
        return False
    return run.find(f"{W}rPr/{W}highlight") is None and not _is_shaded(run)


def _is_shaded(run: Any) -> bool:
    """Return whether a run, or anything around it, has a background other than white."""
    shades = [run.find(f"{W}rPr/{W}shd")]
    shades += [element.find(f"{element.tag}Pr/{W}shd") for element in run.iterancestors()]
    for shade in shades:
        if shade is not None and shade.get(f"{W}fill", "auto").upper() not in ("AUTO", "FFFFFF"):
            return True
    return False
