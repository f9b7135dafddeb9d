"""Reading what a language model was asked to extract: records in any usual spelling, or JSON; never an exception."""

from __future__ import annotations

import json
import re
from typing import Any

from ragweave.corpora.knowledge.facts import Entity, Relation

_RECORD = re.compile(r"\n|##|<\|COMPLETE\|>", re.I)
_FIELD = re.compile(r"\s*(?:<\|>|\t|\|)\s*")
_EDGES = " \t\"'“”`*()[]{}"
_ENTITY = frozenset(("entity", "node", "e"))
_RELATION = frozenset(("relation", "relationship", "edge", "r"))
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
WEIGHT = 5.0
"""Strength of a relation where the model gives none; it is asked for one from 1 to 10."""
_MOST = 500
"""Records read of one reply."""


def read_records(reply: str) -> tuple[list[Entity], list[Relation]]:
    """Return the entities and relations of a reply; what cannot be read is passed over.

    Read are lines of `entity | name | type | description` and `relation | name | name | description | strength`, the
    same with `<|>` between fields, `##` between records and brackets around them, and JSON with lists of objects.
    """
    found = _from_json(reply)
    if found is not None:
        return found
    entities: list[Entity] = []
    relations: list[Relation] = []
    for record in _RECORD.split(reply)[: 4 * _MOST]:
        fields = [f.strip(_EDGES) for f in _FIELD.split(record.strip())]
        # A table in Markdown has an empty field at either end.
        while fields and not fields[0]:
            fields = fields[1:]
        while fields and not fields[-1]:
            fields = fields[:-1]
        if len(fields) < 2 or not fields[1]:
            continue
        fields += [""] * (3 - len(fields))
        tag = re.sub(r"^(?:\d+[.)]?|[-•])\s*", "", fields[0]).strip(_EDGES + ":").lower()
        if tag in _ENTITY and len(entities) < _MOST:
            entities.append(Entity(fields[1], fields[2], " ".join(fields[3:]).strip()))
        elif tag in _RELATION and len(relations) < _MOST and fields[2]:
            last = _NUMBER.fullmatch(fields[-1]) if len(fields) > 4 else None
            told = fields[3:-1] if last else fields[3:]
            weight = float(last.group()) if last else WEIGHT
            relations.append(Relation(fields[1], fields[2], " ".join(told).strip(), min(max(weight, 0.0), 10.0)))
    return entities, relations


def _from_json(reply: str) -> tuple[list[Entity], list[Relation]] | None:
    start = min((i for i in (reply.find("{"), reply.find("[")) if i >= 0), default=-1)
    if start < 0 or "|" in reply[:start]:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(reply[start:])
    except (ValueError, RecursionError):
        return None
    rows = value if isinstance(value, list) else [value]
    entities: list[Entity] = []
    relations: list[Relation] = []
    for row in rows:
        if not isinstance(row, dict):
            continue
        lists = [(row.get(k), True) for k in ("entities", "nodes")]
        lists += [(row.get(k), False) for k in ("relations", "relationships", "edges")]
        if not any(isinstance(held, list) for held, _ in lists):
            lists = [([row], "target" not in row and "tail" not in row)]
        for held, is_entity in lists:
            for one in held if isinstance(held, list) else []:
                if isinstance(one, str) and is_entity:
                    entities.append(Entity(one))
                elif isinstance(one, dict) and is_entity:
                    entities += _entity(one)
                elif isinstance(one, dict):
                    relations += _relation(one)
    return (entities[:_MOST], relations[:_MOST]) if entities or relations else None


def _entity(row: dict[str, Any]) -> list[Entity]:
    name = _text(row, "name", "entity", "entity_name", "id", "title")
    return [Entity(name, _text(row, "type", "kind", "entity_type", "label"), _text(row, "description"))] if name else []


def _relation(row: dict[str, Any]) -> list[Relation]:
    head = _text(row, "source", "head", "from", "source_entity", "subject")
    tail = _text(row, "target", "tail", "to", "target_entity", "object")
    strength = next((row[k] for k in ("weight", "strength", "relationship_strength") if k in row), None)
    number = _NUMBER.search(str(strength)) if strength is not None else None
    weight = min(max(float(number.group()), 0.0), 10.0) if number else WEIGHT
    told = _text(row, "description", "relation", "type", "label")
    return [Relation(head, tail, told, weight)] if head and tail else []


def _text(row: dict[str, Any], *keys: str) -> str:
    return next((str(row[k]) for k in keys if isinstance(row.get(k), str | int | float) and str(row[k]).strip()), "")
