"""What is written upon the pages of a PDF: the values of form fields, and comments."""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pypdfium2.raw as raw

from ragweave.corpora.blocks import Block, comment
from ragweave.corpora.formats.buttons import Button
from ragweave.corpora.pages import View
from ragweave.corpora.types import Box

_MOST = 1_000
"""Annotations of a page that are looked at."""
_CHARACTERS = 20_000
"""Characters of one that are read, and a tenth of those of all of a page."""
_ASIDE = 10
"""A note in the margin is as near to a line at this many points as one below it at one point."""
_BUTTONS = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_CHOICES = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
_HIDDEN = 2 | 32
"""Flags of what is neither shown nor printed, or not shown."""
_NAMED = re.compile(r"[^\W\d_][\w '’().,/-]*")
"""A name of a field that says something: a program's own has brackets and numbers."""


@contextmanager
def form_of(document: Any) -> Iterator[Any]:
    """Open the form of a document, by which fields inherit; its pages are loaded and drawn as without it."""
    config = raw.FPDF_FORMFILLINFO(version=2)
    form = raw.FPDFDOC_InitFormFillEnvironment(document, config)
    try:
        yield form
    finally:
        raw.FPDFDOC_ExitFormFillEnvironment(form)


def written(page: Any, number: int, view: View, hidden: list[str], form: Any) -> Iterator[Block]:
    """Yield the fields and comments of a page at their places; those that cannot be seen go to `hidden`."""
    read = 0
    for n in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        note = raw.FPDFPage_GetAnnot(page, n)
        if not note:
            continue
        try:
            text = _said(note, form)
            box = _box(note, view)
            unseen = raw.FPDFAnnot_GetFlags(note) & _HIDDEN or (box is not None and view.off(box))
        finally:
            raw.FPDFPage_CloseAnnot(note)
        read += len(text)
        if read > 10 * _CHARACTERS:
            return
        if text and unseen:
            hidden.append(text)
        elif text:
            yield Block(text, "text", page=number, bbox=box)


def buttons(page: Any, view: View, form: Any) -> Iterator[Button]:
    """Yield the check boxes and radio buttons of a page that can be seen, at their places on the page."""
    for n in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        note = raw.FPDFPage_GetAnnot(page, n)
        if not note:
            continue
        try:
            found = _button(note, view, form)
            if found is not None:
                yield found
        finally:
            raw.FPDFPage_CloseAnnot(note)


def _button(note: Any, view: View, form: Any) -> Button | None:
    if raw.FPDFAnnot_GetFormFieldType(form, note) not in _BUTTONS or raw.FPDFAnnot_GetFlags(note) & _HIDDEN:
        return None
    box, state = _box(note, view), _string(note, b"AS")
    if box is None or view.off(box) or not (state or raw.FPDFAnnot_HasKey(note, b"AP")):
        return None
    value = _read(partial(raw.FPDFAnnot_GetFormFieldExportValue, form, note))
    held, names = _field(note, form)
    held = held or _read(partial(raw.FPDFAnnot_GetFormFieldValue, form, note))
    on = state != "Off" if state else held not in ("", "Off") and held == (value or held)
    name = next(filter(_NAMED.fullmatch, names), "")
    return Button(on, name, value if value not in ("On", "1") else "", box)


def among(notes: Iterable[Block], blocks: Sequence[Block]) -> list[Block]:
    """Put each field and comment after the nearest block that begins above it, so that it has its heading."""
    lines: dict[int, list[tuple[int, Box]]] = {}
    for n, block in enumerate(blocks, 1):
        for span in block.places():
            if span.bbox:
                lines.setdefault(span.page, []).append((n, span.bbox))

    placed = list(enumerate(blocks, 1))
    for note in notes:
        if note.bbox is None:
            at = bisect_right(blocks, note.page, key=lambda b: b.page)
        else:
            nearest = _nearest(note.bbox, lines.get(note.page, ()))
            if nearest is None:
                nearest = bisect_left(blocks, note.page, key=lambda b: b.page)
            at = nearest
        placed.append((at, note))
    placed.sort(key=lambda entry: entry[0])
    return [block for _, block in placed]


def _nearest(box: Box, lines: Iterable[tuple[int, Box]]) -> int | None:
    """Return the number of the block whose line is nearest to a box and begins above its foot."""
    left, bottom, right, top = box
    near: list[tuple[float, int]] = []
    for n, line in lines:
        if line[3] > bottom:
            across = max(0, left - line[2], line[0] - right)
            down = max(0, line[1] - top, bottom - line[3])
            near.append((across / _ASIDE + down, n))
    return min(near)[1] if near else None


def _said(note: Any, form: Any) -> str:
    """Return the text of an annotation with the name of its field or its author; "" if it has none."""
    kind = raw.FPDFAnnot_GetSubtype(note)
    if kind == raw.FPDF_ANNOT_WIDGET:
        value, names = _field(note, form)
        name = next(filter(_NAMED.fullmatch, names), "")
        return f"{name.rstrip(':')}: {value}" if name and value else value
    if kind in (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
        return ""
    text, author = _string(note, b"Contents"), _string(note, b"T")
    return comment(text, author) if text else ""


def _field(note: Any, form: Any) -> tuple[str, list[str]]:
    """Return the text of a field and its names; a field shown at several places has them in its parent."""
    # A box that is ticked, or not, has the name of a state.
    is_text = raw.FPDFAnnot_GetValueType(note, b"V") == raw.FPDF_OBJECT_STRING
    value, names = _string(note, b"V") if is_text else "", [_string(note, b"TU"), _string(note, b"T")]
    if raw.FPDFAnnot_HasKey(note, b"Parent"):
        texts = (raw.FPDF_FORMFIELD_TEXTFIELD, *_CHOICES)
        if not raw.FPDFAnnot_HasKey(note, b"V") and raw.FPDFAnnot_GetFormFieldType(form, note) in texts:
            value = _read(partial(raw.FPDFAnnot_GetFormFieldValue, form, note))
        for get in (raw.FPDFAnnot_GetFormFieldAlternateName, raw.FPDFAnnot_GetFormFieldName):
            names.append(_read(partial(get, form, note)))
    return _chosen(note, form) or value, names


def _chosen(note: Any, form: Any) -> str:
    """Return the chosen entries of a list as they are shown: the value of a field may be a short code."""
    if raw.FPDFAnnot_GetFormFieldType(form, note) not in _CHOICES:
        return ""
    count = min(max(0, raw.FPDFAnnot_GetOptionCount(form, note)), _MOST)
    labels = []
    for n in range(count):
        if raw.FPDFAnnot_IsOptionSelected(form, note, n):
            labels.append(_read(partial(raw.FPDFAnnot_GetOptionLabel, form, note, n)))
    return ", ".join(filter(None, labels))


def _string(note: Any, key: bytes) -> str:
    return _read(partial(raw.FPDFAnnot_GetStringValue, note, key))


def _read(get: Callable[[Any, int], int]) -> str:
    """Return a text of PDFium: `get` takes a buffer and its size, and returns the size that it needs."""
    length = get(None, 0)
    if not 2 < length <= 2 * _CHARACTERS:
        return ""
    data = ctypes.create_string_buffer(length)
    get(ctypes.cast(data, ctypes.POINTER(raw.FPDF_WCHAR)), length)
    return " ".join(data.raw.decode("utf-16-le", "replace").replace("\0", " ").split())


def _box(note: Any, view: View) -> Box | None:
    rect = raw.FS_RECTF()
    if not raw.FPDFAnnot_GetRect(note, ctypes.byref(rect)):
        return None
    left, bottom, right, top = view.seen((rect.left, rect.bottom, rect.right, rect.top))
    return round(left, 1), round(bottom, 1), round(right, 1), round(top, 1)
