"""A picture that is asked for: told by what is written about it, cited and shown."""

from __future__ import annotations

import re

from ragweave.corpora.parts import described
from ragweave.corpora.types import Item
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, within
from ragweave.minds.evidence import Strip
from ragweave.minds.fusion import fuse_scores
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip, evidence_of, heading_title
from ragweave.minds.sameness import collapse
from ragweave.minds.small.answer.deck import deck
from ragweave.minds.small.question.asked import share
from ragweave.models.text import clip, content_terms, sentences, terms

KIND = (
    r"(?:pictures?|photos?|photographs?|images?|figures?|diagrams?|illustrations?|drawings?|paintings?|portraits?|maps?"
    r"|plots?|graphs?|charts?|screenshots?)"
)
COVERED = 0.6
"""Share of the question's words, by rarity, that what is written about a picture must have."""
MOST = 3
"""Pictures that are shown, where several have as many of the words."""
_QUOTE = 200
_ASKS = re.compile(
    r"\W*(?:please )?(?:(?:can|could) you )?(?:"
    rf"(?:show|find|give) (?:me|us)\b(?: (?:an?|the|some|any|all))?(?: {KIND})?(?: (?:of|with|showing))?"
    rf"|(?:which|what) (?:\w+ )?{KIND} (?:shows?|depicts?|plots?|compares?|has|have|is of|are of|illustrates?|lists?)"
    rf"|(?:is|are) there (?:an?|any|some) (?:\w+ )?{KIND} (?:of|with|showing|that shows?))\b(?P<what>.+)",
    re.I,
)


async def pictured(desk: Desk, brief: Brief, page: Page) -> bool:
    """Show the slide or the pictures that a question asks for; False where there is none like that."""
    if await deck(desk, brief, page):
        return True
    m = _ASKS.fullmatch(brief.question.strip())
    wanted = content_terms(m["what"]) if m else []
    if m is None or not wanted:
        return False
    library = await desk.library()
    (lists,) = await library.search("image", [m["what"]], desk.context.method.pool, (await within(desk)).sources)
    dense, words = ([(h.id, h.score) for h in hits] for hits in (lists.dense, lists.lexical))
    ids = [i for i, _ in fuse_scores([(desk.context.method.dense_weight, dense, None), (1.0, words, 0.0)])]
    items = await library.items(ids)
    idf = await library.idf(wanted)

    def said_of(item: Item) -> set[str]:
        return set(terms(f"{described(item)} {heading_title(item)} {item.meta.get('name', '')}"))

    shares = {i: share(wanted, said_of(item), idf.__getitem__) for i, item in items.items()}
    best = max(shares.values(), default=0.0)
    if best < COVERED:
        return False
    for item, also in collapse([items[i] for i in ids if shares.get(i) == best])[:MOST]:
        said = described(item) or item.title
        first = next((said[a:b] for a, b in sentences(said)), said)
        strip = Strip(**{**as_strip(evidence_of(item, brief.question, 1, 0.0, 1.0)), "also": also})
        page.show(clip(" ".join(first.split()), _QUOTE), "verified", [strip], best)
    return True
