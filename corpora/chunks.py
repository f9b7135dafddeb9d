"""Pack consecutive clips of a recording into chunks of at most 1,200 tokens (VideoRAG, section 3.1.1).

Chunks are not stored: the same clips always give the same chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ragweave.corpora.types import Item, digest
from ragweave.models.chat_reply import tokens_of
from ragweave.models.text import clock, sentences

CHUNK_TOKENS = 1_200
"""Largest number of tokens of a chunk, as `ragweave.models.chat_reply.tokens_of` counts them."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a recording: the ids of its clips in order, and their texts under `[12:31-13:01]`."""

    id: str
    source: str
    clips: tuple[str, ...]
    text: str


def chunks_of(items: Iterable[Item], tokens: int = CHUNK_TOKENS) -> list[Chunk]:
    """Return the chunks of the clips among items of any sources, in any order.

    A clip with more than `tokens` is divided at its sentences, transcript first: nothing is lost.
    """
    clips = [item for item in items if item.corpus == "clip" and item.text]
    clips.sort(key=lambda clip: (clip.source, clip.ordinal))
    out: list[Chunk] = []
    for _, group in groupby(clips, key=lambda clip: (clip.source, clip.title)):
        out += _packed(list(group), tokens)
    return out


def best_chunks(chunks: Iterable[Chunk], ranking: Sequence[str], tokens: int) -> list[Chunk]:
    """Return the chunks with the best clips of a ranking, best first, until the tokens are used up.

    The rank of a chunk is that of its best clip.
    """
    by_clip: dict[str, Chunk] = {}
    for chunk in chunks:
        by_clip.update(dict.fromkeys(chunk.clips, chunk))
    ranked = dict.fromkeys(by_clip[clip] for clip in ranking if clip in by_clip)
    best: list[Chunk] = []
    length = 0
    for chunk in ranked:
        length += tokens_of(chunk.text)
        if length > tokens:
            break
        best.append(chunk)
    return best


def _packed(clips: Sequence[Item], tokens: int) -> list[Chunk]:
    """Pack the clips of a recording, in order, into chunks of at most `tokens`."""
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
    return list(map(_chunk, packs))


def _pieces(clip: Item, tokens: int) -> list[str]:
    """Return the text of a clip under its time, in several pieces if it is too long for one."""
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
    """Return the chunk of some clips and their texts."""
    ids = [clip.id for clip, _ in pieces]
    clips = tuple(dict.fromkeys(ids))
    text = "\n\n".join(text for _, text in pieces)
    return Chunk(digest(*clips, text), pieces[0][0].source, clips, text)
