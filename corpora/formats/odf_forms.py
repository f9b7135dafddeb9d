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
    shown: dict[str, str] = {}
    for control in body.iter():
        if isinstance(control.tag, str) and control.tag.startswith(FORM):
            for id in (control.get(f"{FORM}id"), control.get(_ID)):
                if id:
                    shown[id] = _shown(control)
    return shown


def _shown(control: Any) -> str:
    kind = control.tag.removeprefix(FORM)
    label = " ".join((control.get(f"{FORM}label") or "").split())
    if kind == "checkbox":
        state = _first(control, "current-state", "state")
        return f"{TICKED if state in _ON else UNTICKED} {label}".strip()
    if kind == "radio":
        state = _first(control, "current-selected", "selected")
        return f"{TICKED if state in _ON else UNTICKED} {label}".strip()
    if kind == "listbox":
        return _chosen(control, "current-selected") or _chosen(control, "selected")
    if kind in ("button", "image", "hidden", "generic-control", "fixed-text"):
        return label
    return _first(control, "current-value", "value")


def _first(control: Any, *names: str) -> str:
    """Return the first of these attributes that a control has, or ""."""
    for name in names:
        value = control.get(f"{FORM}{name}")
        if value:
            return str(value)
    return ""


def _chosen(control: Any, name: str) -> str:
    """Return the labels of the options of a list that an attribute marks."""
    labels = []
    for option in control.iter(f"{FORM}option"):
        if option.get(f"{FORM}{name}") == "true":
            labels.append(option.get(f"{FORM}label") or "")
    return ", ".join(labels)


def entered(field: Any) -> str:
    """Return the entry of a field from Word whose text is not stored: a box or a choice."""
    kind = (field.get(f"{FIELD}type") or "").rpartition(".")[2].upper()
    values: dict[str, str] = {}
    entries: list[str] = []
    for parameter in field.iter(f"{FIELD}param"):
        name, value = parameter.get(f"{FIELD}name") or "", parameter.get(f"{FIELD}value") or ""
        values[name] = value
        if name == "Dropdown_ListEntry":
            entries.append(value)
    if kind == "FORMCHECKBOX":
        return TICKED if values.get("Checkbox_Checked", "false").lower() in _ON else UNTICKED
    if kind == "FORMDROPDOWN":
        chosen = values.get("Dropdown_Selected", "")
        return entries[int(chosen)] if chosen.isdecimal() and int(chosen) < len(entries) else ""
    return ""
