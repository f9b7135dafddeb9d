"""Read the entities and relations in a language model's reply; never raise an exception."""

from __future__ import annotations

import re

from ragweave.corpora.knowledge.facts import Entity, Found, Relation

_RECORD = re.compile(r"\n|##|<\|COMPLETE\|>", re.I)
_FIELD = re.compile(r"\s*(?:<\|>|\|)\s*")
_EDGES = " \t\"'“”`*()[]{}"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
WEIGHT = 5.0
"""Strength of a relation if the model gives none; the prompt requests one from 1 to 10."""
_STRONGEST = 10.0
_MOST = 500
"""Entities, and relations, that are kept of one reply."""


def read_records(reply: str) -> Found:
    """Return the entities and relations of a reply; records that cannot be read are left out.

    Records are lines of `entity | name | type | description` and `relation | name | name | description |
    strength`. They may also form a table, or have `<|>` between fields and `##` between records (VideoRAG).
    """
    entities: list[Entity] = []
    relations: list[Relation] = []
    for record in _RECORD.split(reply)[: 4 * _MOST]:
        tag, *fields = [f.strip(_EDGES) for f in _FIELD.split(record.strip().strip("|"))]
        fields += [""] * (2 - len(fields))
        tag = tag.lower().strip("0123456789.)-•: ")
        if tag == "entity" and fields[0]:
            entities.append(Entity(fields[0], fields[1], " ".join(fields[2:]).strip()))
        elif tag in ("relation", "relationship") and fields[0] and fields[1]:
            relations.append(_relation(fields))
    return entities[:_MOST], relations[:_MOST]


def _relation(fields: list[str]) -> Relation:
    """Return the relation of a record: two names, a description and perhaps a strength."""
    description = fields[2:]
    weight = WEIGHT
    if len(fields) > 3 and _NUMBER.fullmatch(fields[-1]):
        description = fields[2:-1]
        weight = min(max(float(fields[-1]), 0.0), _STRONGEST)
    return Relation(fields[0], fields[1], " ".join(description).strip(), weight)
