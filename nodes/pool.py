"""Pool the channels' lists into one: the union with ranks, clips of the likeliest recordings first among equals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langgraph.runtime import Runtime

from ragweave.corpora.types import Item
from ragweave.minds.context import Context
from ragweave.minds.evidence import RankedList
from ragweave.minds.fusion import Ranking, fuse_ranks, ordered
from ragweave.nodes.retrieve_video import Channel, VideoState
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update

WEIGHTS: Mapping[Channel, float] = {"speech": 1.0, "chunk": 0.45, "entity": 0.5, "visual": 0.5}
"""Weight of a channel's list; words that were said or shown say most (docs/video.md)."""
RECORDING = 0.2
"""Weight of the recording beside its clip, which has the rest (UniversalRAG mixes whole and part as 0.2 and 0.8)."""


async def pool(state: VideoState, runtime: Runtime[Context]) -> Update:
    """Return the best clips over all channels, and the recordings where the whole is asked for.

    The union counts: a channel that found nothing takes nothing away from the others.
    """
    run = Run.of("pool", State(turn=state.get("turn", ""), hop=state.get("hop", 1)), runtime)
    run.by = "rrf"
    lists = {row["channel"]: row["ids"] for row in state.get("lists", [])}
    joined = fuse_ranks([(WEIGHTS[c], [(i, 0.0) for i in ids]) for c, ids in lists.items() if c in WEIGHTS])
    library = await run.library()
    items = await library.items([i for i, _ in joined])
    recordings = lists.get("video", [])
    whole = await library.items(recordings)
    best = mixed(joined, items, [(whole[i].source, whole[i].title) for i in recordings if i in whole])[
        : run.context.clips
    ]
    found: list[RankedList] = []
    if "video" in state.get("corpora", []) and whole:
        ids = [i for i in recordings if i in whole]
        scores = [1.0 / n for n in range(1, len(ids) + 1)]
        found.append({"corpus": "video", "query": state["query"], "kind": "pooled", "ids": ids, "scores": scores})
    told = f"{len(best)} clips of {len(joined)} from {len([c for c in lists if c in WEIGHTS])} channels"
    return run.done(
        told,
        data={"clips": [i for i, _ in best]},
        clips=[i for i, _ in best],
        scores=[round(s, 6) for _, s in best],
        found=found,
    )


def mixed(clips: Ranking, items: Mapping[str, Item], recordings: Sequence[tuple[str, str]]) -> Ranking:
    """Add to each clip what its recording earned, 0.2 to 0.8; both as shares of the best.

    Args:
        clips: fused ranking of the clips.
        items: the clips.
        recordings: (source, title) of the recordings, the likeliest first; with none of them the clips stand alone.
    """
    known = [(i, s) for i, s in clips if i in items]
    if not known or not recordings:
        return known
    top = known[0][1]
    share = {key: 1.0 / (n + 1) for n, key in reversed(list(enumerate(recordings)))}
    return ordered(
        {i: (1 - RECORDING) * s / top + RECORDING * share.get((items[i].source, items[i].title), 0.0) for i, s in known}
    )
