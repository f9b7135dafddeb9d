"""Fields of forms of OpenDocument: which box is ticked, which entry is chosen, what is written in a line."""

from __future__ import annotations

from typing import Any

from ragweave.corpora.formats.symbols import TICKED, UNTICKED

_NS = "{urn:oasis:names:tc:opendocument:xmlns:"
FORM, DRAW = f"{_NS}form:1.0}}", f"{_NS}drawing:1.0}}"
FIELD = "{urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0}"
MARKS = (f"{FIELD}fieldmark", f"{FIELD}fieldmark-start")
"""Elements of fields that come from Word."""
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_ON = ("checked", "true")


def controls(body: Any) -> dict[str, str]:
    """Return what the controls of a document show, by the ids that drawings name."""
    out = {}
    for control in body.iter():
        if isinstance(control.tag, str) and control.tag.startswith(FORM):
            for id in filter(None, (control.get(f"{FORM}id"), control.get(_ID))):
                out[id] = _shown(control)
    return out


def _shown(control: Any) -> str:
    kind, label = control.tag.removeprefix(FORM), " ".join((control.get(f"{FORM}label") or "").split())
    if kind in ("checkbox", "radio"):
        names = ("current-state", "state") if kind == "checkbox" else ("current-selected", "selected")
        said = next((v for name in names if (v := control.get(f"{FORM}{name}"))), "")
        return f"{TICKED if said in _ON else UNTICKED} {label}".strip()
    if kind == "listbox":
        options = list(control.iter(f"{FORM}option"))
        for name in ("current-selected", "selected"):
            if chosen := [o for o in options if o.get(f"{FORM}{name}") == "true"]:
                return ", ".join(o.get(f"{FORM}label") or "" for o in chosen)
        return ""
    said = next((v for name in ("current-value", "value") if (v := control.get(f"{FORM}{name}"))), "")
    return label if kind in ("button", "image", "hidden", "generic-control", "fixed-text") else said


def entered(field: Any) -> str:
    """Return what is entered in a field from Word whose text is not stored: a box or a choice."""
    kind = (field.get(f"{FIELD}type") or "").rpartition(".")[2].upper()
    params = [
        (p.get(f"{FIELD}name") or "", p.get(f"{FIELD}value") or "") for p in field.iter(f"{FIELD}param")
    ]
    if kind == "FORMCHECKBOX":
        return TICKED if dict(params).get("Checkbox_Checked", "false").lower() in _ON else UNTICKED
    if kind == "FORMDROPDOWN":
        entries = [value for name, value in params if name == "Dropdown_ListEntry"]
        said = dict(params).get("Dropdown_Selected", "")
        return entries[int(said)] if said.isdecimal() and int(said) < len(entries) else ""
    return ""
