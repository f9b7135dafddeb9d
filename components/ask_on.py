"""Find the next queries without a model: what the best passages leave open.

A question of several hops is recognised by what was found: the best two passages lack words of it, but they
name other documents of the library. The next round searches the missing words together with each name. The
rule uses no word of any language. docs/results.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragweave.components.evidence import Evidence
from ragweave.components.knowledge import Knowledge
from ragweave.corpora.store.library import Library
from ragweave.models.relevance_reading import content_stems
from ragweave.models.text import stem, words

LEADS = 2
"""Best passages that are compared with the question."""
OPEN = 0.25
"""Share of the question, by the rarity of its words, that the passages must lack."""
NAMES = 2
"""Names to search in a round, those of the best passage first."""


def next_queries(library: Library, known: Knowledge) -> list[str]:
    """Return queries of a name in the best passages and the words of the question that these lack.

    CPU work: async callers use `asyncio.to_thread`.
    """
    leads = [row for row in known.rows if row["text"].strip()][:LEADS]
    if not leads:
        return []
    left = open_words(known.question, leads, library.weights({*content_stems(known.question)}))
    if not left:
        return []
    asked = [known.question]
    texts = []
    for row in leads:
        asked.append(row["title"].partition(" · ")[0])
        texts.append(row["text"])
    mentioned = set(library.titles_in(" \n ".join(asked)))
    queries = []
    for title in library.titles_in("\n".join(texts)):
        query = " ".join([title, *left])
        if title not in mentioned and not known.asked(query):
            queries.append(query)
    return queries[:NAMES]


def open_words(question: str, leads: Sequence[Evidence], weights: Mapping[str, float]) -> list[str]:
    """Return the words of a question that no passage has, or none if they are not worth a round."""
    held: set[str] = set()
    for row in leads:
        held.update(map(stem, words(f"{row['title']} {row['text']}")))
    content = content_stems(question)
    left = set(content) - held
    total = sum(map(weights.__getitem__, content))
    missing = sum(map(weights.__getitem__, left))
    if not total or missing < OPEN * total:
        return []
    return [word for word in dict.fromkeys(words(question)) if stem(word) in left]
