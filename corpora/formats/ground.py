"""What is drawn behind the text of a PDF: white text on it is seen."""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2.raw as raw

from ragweave.corpora.types import Box

WHITE = 250
"""Least value of each channel of a colour that looks like paper."""


def on_ground(page: Any, box: Box) -> bool:
    """Return whether something is drawn behind a box: a filled shape that is not white, or a picture."""
    left, bottom, right, top = box
    for found in page.get_objects(
        filter=(raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING)
    ):
        a, b, c, d = found.get_bounds()
        if a > left + 1 or b > bottom + 1 or c < right - 1 or d < top - 1:
            continue
        red, green, blue, opacity = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        raw.FPDFPageObj_GetFillColor(found.raw, red, green, blue, opacity)
        is_white = min(red.value, green.value, blue.value) >= WHITE
        if found.type != raw.FPDF_PAGEOBJ_PATH or not is_white:
            return True
    return False
