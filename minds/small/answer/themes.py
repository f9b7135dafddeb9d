"""What many recordings speak of: their key phrases by the number of recordings, with where each is first spoken of."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from ragweave.corpora.types import Item
from ragweave.corpora.video.mentions import SPEAKER, Mention, mentions_of, whole
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, within
from ragweave.minds.page import Page
from ragweave.minds.small.answer.chapters import PHRASES, recordings_in
from ragweave.minds.small.answer.tell import strip
from ragweave.models.text import fold

LEAST, MOST, CITED = 3, 8, 3
"""Recordings from which there are themes in common, themes that are told, and recordings that each is cited from."""
_MANY = r"(?:episodes|recordings|lectures|talks|videos|films|podcasts|meetings)"
_ABOUT = r"(?!.*\b(?:about|on|of (?!the|these|all|my|our))\b)"
_ASKS = re.compile(
    rf"\W*(?:(?:what|which)\s+(?:(?:are|is)\s+)?(?:the\s+)?(?:\w+\s+){{0,2}}(?:themes?|topics?|subjects?)\s{_ABOUT}"
    rf".*\b{_MANY}|what\s+do\s+(?:\w+\s+){{0,2}}{_MANY}\s+have\s+in\s+common)\W*",
    re.I,
)


async def themes(desk: Desk, brief: Brief, page: Page) -> bool:
    """Show the themes of the recordings, most recordings first; False where none are asked for or too few are held."""
    if not _ASKS.fullmatch(brief.question.strip()):
        return False
    library, scope = await desk.library(), await within(desk)
    held = await recordings_in(library, scope)
    if len(held) < LEAST:
        return False
    wholes = await library.items([r.id for r in held])
    spelt = {fold(p): p for one in wholes.values() for p in _phrases(one)}
    shared = Counter(fold(p) for one in wholes.values() for p in _phrases(one))
    found: list[tuple[str, dict[tuple[str, str], list[Mention]]]] = []
    speakers: set[str] = set()
    for said in (spelt[key] for key, n in shared.most_common() if n > 1):
        by: dict[tuple[str, str], list[Mention]] = defaultdict(list)
        for m in await mentions_of(library, said, scope):
            by[m.recording].append(m)
            speakers |= {word for name in SPEAKER.findall(m.item.text) for word in fold(name).split()}
        if len(by) > 1:
            found.append((said, by))
    found = [row for row in found if not {*fold(row[0]).split()} <= speakers]
    found.sort(key=lambda row: (-len(row[1]), -sum(map(len, row[1].values())), row[0]))
    for said, by in found[:MOST]:
        most = sorted(by.values(), key=len, reverse=True)[:CITED]
        strips = [strip(whole(moments[0]), brief.question, 1) for moments in most]
        told = f"{said}: in {len(by)} of {len(held)} recordings, {sum(map(len, by.values()))} times"
        page.show(told, "verified", strips, 1.0, about=said, sign="-")
    return bool(found)


def _phrases(of: Item) -> list[str]:
    found = PHRASES.search(of.text)
    return found[1].split(", ") if found else []
