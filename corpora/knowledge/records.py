"""Reading what a language model was asked to extract: records in lines; never an exception."""

from __future__ import annotations

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

    Read are lines of `entity | name | type | description` and `relation | name | name | description |
    strength`, the same as a table or with `<|>` between fields and `##` between records (VideoRAG).
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
            stated = len(fields) > 3 and bool(_NUMBER.fullmatch(fields[-1]))
            told = fields[2:-1] if stated else fields[2:]
            weight = min(max(float(fields[-1]), 0.0), 10.0) if stated else WEIGHT
            relations.append(Relation(fields[0], fields[1], " ".join(told).strip(), weight))
    return entities[:_MOST], relations[:_MOST]
