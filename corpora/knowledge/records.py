"""Reading what a language model was asked to extract: records in lines, or JSON; never an exception."""

from __future__ import annotations

import json
import re

from ragweave.corpora.knowledge.facts import Entity, Found, Relation

_RECORD = re.compile(r"\n|##|<\|COMPLETE\|>", re.I)
_FIELD = re.compile(r"\s*(?:<\|>|\|)\s*")
_EDGES = " \t\"'“”`*()[]{}"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
WEIGHT = 5.0
"""Strength of a relation where the model gives none; it is asked for one from 1 to 10."""
_MOST = 500
"""Records read of one reply."""


def read_records(reply: str) -> Found:
    """Return the entities and relations of a reply; what cannot be read is passed over.

    Read are lines of `entity | name | type | description` and `relation | name | name | description | strength`, the
    same as a table or with `<|>` between fields and `##` between records (VideoRAG), and one JSON object of two lists.
    """
    entities, relations = _from_json(reply)
    for record in _RECORD.split(reply)[: 4 * _MOST]:
        tag, *fields = [f.strip(_EDGES) for f in _FIELD.split(record.strip().strip("|"))]
        fields += [""] * (2 - len(fields))
        tag = tag.lower().strip("0123456789.)-•: ")
        if tag == "entity" and fields[0]:
            entities.append(Entity(fields[0], fields[1], " ".join(fields[2:]).strip()))
        elif tag in ("relation", "relationship") and fields[0] and fields[1]:
            stated = len(fields) > 3 and bool(_NUMBER.fullmatch(fields[-1]))
            told = fields[2:-1] if stated else fields[2:]
            weight = _weight(fields[-1] if stated else None)
            relations.append(Relation(fields[0], fields[1], " ".join(told).strip(), weight))
    return entities[:_MOST], relations[:_MOST]


def _from_json(reply: str) -> Found:
    start = reply.find("{")
    try:
        value = json.JSONDecoder().raw_decode(reply[start:])[0] if start >= 0 else {}
    except (ValueError, RecursionError):
        value = {}

    def rows(name: str, *keys: str) -> list[list[str]]:
        held = value.get(name)
        found = [row for row in held if isinstance(row, dict)] if isinstance(held, list) else []
        return [[str(row.get(key, "")) for key in keys] for row in found]

    entities = [Entity(name, kind, told) for name, kind, told in rows("entities", "name", "type", "description")]
    ends = rows("relations", "source", "target", "description", "strength")
    return entities, [Relation(head, tail, told, _weight(strength)) for head, tail, told, strength in ends]


def _weight(stated: str | None) -> float:
    number = _NUMBER.fullmatch(stated or "")
    return min(max(float(number.group()), 0.0), 10.0) if number else WEIGHT
