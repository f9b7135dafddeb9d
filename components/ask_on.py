"""What to search next without a model: what the best passages leave open.

A question of several hops is recognised by what was found: words of it that neither of the best two passages
holds, while they name other documents of the library. The next round searches the open words together with
each name. No word of any language decides. docs/results.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragweave.components.evidence import Evidence
from ragweave.components.knowledge import Knowledge
from ragweave.corpora.store.library import Library
from ragweave.models.relevance_reading import content_stems
from ragweave.models.text import stem, words

LEADS = 2
"""Best passages that are read for what they leave open."""
OPEN = 0.25
"""Share of the question, by the rarity of its words, that they must leave open."""
NAMES = 2
"""Names that are searched in a round, those of the best passage first."""


def next_queries(library: Library, known: Knowledge) -> list[str]:
    """Return what to search next: each name in the best passages, with the words of the question that are open.

    CPU work: async callers use `asyncio.to_thread`.
    """
    leads = [e for e in known.rows if e["text"].strip()][:LEADS]
    if not leads:
        return []
    left = open_words(known.question, leads, library.weights({*content_stems(known.question)}))
    if not left:
        return []
    of_leads = [e["title"].partition(" · ")[0] for e in leads]
    said = {*library.titles_in(" \n ".join([known.question, *of_leads]))}
    named = library.titles_in("\n".join(e["text"] for e in leads))
    queries = [" ".join([title, *left]) for title in named if title not in said]
    return [q for q in queries if not known.asked(q)][:NAMES]


def open_words(question: str, leads: Sequence[Evidence], weights: Mapping[str, float]) -> list[str]:
    """Return the words of a question that no lead holds; none if they are not worth a round."""
    held = {stem(w) for e in leads for w in words(f"{e['title']} {e['text']}")}
    content = content_stems(question)
    left = {s for s in content if s not in held}
    total = sum(weights[s] for s in content)
    if not total or sum(weights[s] for s in left) < OPEN * total:
        return []
    return [w for w in dict.fromkeys(words(question)) if stem(w) in left]
