"""Chunks: consecutive clips of one recording packed to at most 1,200 tokens (VideoRAG, section 3.1.1).

They are not stored: they follow from the clip items of a source, in order, and are the same whenever they are
made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ragweave.corpora.types import Item, digest
from ragweave.models.chat_reply import tokens_of
from ragweave.models.text import clock, sentences

CHUNK_TOKENS = 1_200
"""Most tokens of a chunk, as `ragweave.models.chat_reply.tokens_of` counts them."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a recording: ids of its clips in order, and each as `[12:31-13:01]` with its text."""

    id: str
    source: str
    clips: tuple[str, ...]
    text: str


def chunks_of(items: Iterable[Item], tokens: int = CHUNK_TOKENS) -> list[Chunk]:
    """Return the chunks of clip items of any sources, in any order; other items are passed over.

    A clip of more than `tokens` is parted at its sentences, transcript first: nothing is lost.
    """
    clips = sorted((i for i in items if i.corpus == "clip" and i.text), key=lambda i: (i.source, i.ordinal))
    out: list[Chunk] = []
    for _, group in groupby(clips, key=lambda i: (i.source, i.title)):
        out += _packed(list(group), tokens)
    return out


def best_chunks(chunks: Iterable[Chunk], ranking: Sequence[str], tokens: int) -> list[Chunk]:
    """Return the chunks that hold the best clips of a ranking, best first, as many of the first as the tokens allow.

    A chunk stands where its best clip stands.
    """
    holding = {clip: chunk for chunk in chunks for clip in chunk.clips}
    ranked = dict.fromkeys(holding[i] for i in ranking if i in holding)
    lengths = accumulate(tokens_of(chunk.text) for chunk in ranked)
    return [chunk for chunk, length in zip(ranked, lengths, strict=True) if length <= tokens]


def _packed(clips: Sequence[Item], tokens: int) -> list[Chunk]:
    packs: list[list[tuple[Item, str]]] = []
    held = 0
    for clip in clips:
        for text in _pieces(clip, tokens):
            size = tokens_of(text) + 1
            if not packs or held + size > tokens:
                packs.append([])
                held = 0
            packs[-1].append((clip, text))
            held += size
    return [_chunk(pieces) for pieces in packs]


def _pieces(clip: Item, tokens: int) -> list[str]:
    """Return the text of a clip under its time, in several pieces where it is too long for one."""
    head = f"[{clock(clip.locator.get('start', 0.0))}-{clock(clip.locator.get('end', 0.0))}]\n"
    whole = head + clip.text
    if tokens_of(whole) < tokens:
        return [whole]
    out, held = [], head
    for start, end in sentences(clip.text):
        for part in _cut(clip.text[start:end], tokens - tokens_of(head) - 2):
            if held != head and tokens_of(f"{held} {part}") >= tokens:
                out.append(held)
                held = head
            held += part if held == head else f" {part}"
    return [*out, held]


def _cut(sentence: str, tokens: int) -> list[str]:
    """Halve a sentence until each part fits."""
    if tokens_of(sentence) <= max(1, tokens) or len(sentence) < 2:
        return [sentence]
    middle = sentence.rfind(" ", 1, len(sentence) // 2 + 1)
    middle = middle if middle > 0 else len(sentence) // 2
    return [*_cut(sentence[:middle].rstrip(), tokens), *_cut(sentence[middle:].lstrip(), tokens)]


def _chunk(pieces: Sequence[tuple[Item, str]]) -> Chunk:
    clips = tuple(dict.fromkeys(clip.id for clip, _ in pieces))
    text = "\n\n".join(text for _, text in pieces)
    return Chunk(digest(*clips, text), pieces[0][0].source, clips, text)
