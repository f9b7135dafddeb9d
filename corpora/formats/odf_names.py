"""Names of OpenDocument: namespaces, and the elements that are read as HTML or left out."""

from __future__ import annotations

NS = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{NS}office:1.0}}"
TEXT = f"{NS}text:1.0}}"
TABLE = f"{NS}table:1.0}}"
DRAW = f"{NS}drawing:1.0}}"
STYLE = f"{NS}style:1.0}}"
META = f"{NS}meta:1.0}}"
PRESENTATION = f"{NS}presentation:1.0}}"
SVG = f"{NS}svg-compatible:1.0}}"
FO = f"{NS}xsl-fo-compatible:1.0}}"
DC = "{http://purl.org/dc/elements/1.1/}"
HREF = "{http://www.w3.org/1999/xlink}href"
MATH = "{http://www.w3.org/1998/Math/MathML}"
EDGES = (
    f"{STYLE}header",
    f"{STYLE}header-left",
    f"{STYLE}header-first",
    f"{STYLE}footer",
    f"{STYLE}footer-left",
    f"{STYLE}footer-first",
)
TAGS = {
    f"{TEXT}p": "p",
    f"{TEXT}alphabetical-index-title": "p",
    f"{TEXT}section": "div",
    f"{TEXT}index-body": "div",
    f"{TEXT}numbered-paragraph": "div",
    f"{TEXT}span": "span",
    f"{TEXT}a": "span",
    f"{TEXT}meta": "span",
    f"{TEXT}ruby": "span",
    f"{TEXT}ruby-base": "span",
    f"{TEXT}bookmark-ref": "span",
    f"{TEXT}reference-ref": "span",
    f"{TABLE}table": "table",
    f"{TABLE}table-row": "tr",
    f"{TABLE}table-cell": "td",
    f"{DRAW}text-box": "div",
}
SPACES = {f"{TEXT}tab": " ", f"{TEXT}s": " ", f"{TEXT}line-break": "\n"}
OUT = frozenset(
    (
        f"{TEXT}tracked-changes",
        f"{TEXT}table-of-content",
        f"{TEXT}hidden-text",
        f"{TEXT}ruby-text",
        f"{TEXT}note",
        f"{TEXT}number",
        f"{TEXT}page-number",
        f"{OFFICE}annotation",
        f"{OFFICE}forms",
        f"{OFFICE}event-listeners",
        f"{TABLE}covered-table-cell",
        f"{TABLE}shapes",
        f"{PRESENTATION}notes",
    )
)
"""Elements that are left out of the text; notes and comments follow it."""
