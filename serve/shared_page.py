"""The page behind a shared link: answers with the places they cite, pictures included; it loads nothing."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ragweave import __version__
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import RagweaveError
from ragweave.serve.drawing import drawn, first_file
from ragweave.serve.formulas import with_formulas
from ragweave.serve.problems import NotFound
from ragweave.serve.quotes import as_html, where
from ragweave.serve.store import ConversationTurn, now
from ragweave.serve.uploads import digest_of

_STATES = {
    "verified": "✓ verified",
    "unverified": "? unverified: nothing was found that says this",
    "contradicted": "≠ contradicted: a source says otherwise",
    "model": "the model's own knowledge: no source says this",
    "quoted": "quoted from the source; no language model read it",
    "unchecked": "not checked: it only frames the answer, or this run asked for no check",
}
_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"
content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">"""
_STYLE = """
body{max-width:760px;margin:32px auto;padding:0 20px;font:16px/1.6 system-ui,sans-serif;color:#1f1e1b;background:#fff}
h1{font-size:24px;line-height:1.3}h2{font-size:20px;margin-top:44px}h3{font-size:15px;margin:0 0 2px}
.fine{font-size:13.5px;color:#5f5b53}
.state{font-size:12.5px;white-space:nowrap;color:#2c6b3f}.unverified .state,.model .state{color:#7a4f00}
.contradicted .state{color:#a32a22}.quoted .state{color:#5f5b53}
mark{background:#fbeeb8;color:inherit}
table{border-collapse:collapse}td,th{padding:2px 12px 2px 0;text-align:left;border-bottom:1px solid #e4e0d7}
blockquote{margin:8px 0;padding-left:12px;border-left:3px solid #cfe3df}
article{margin:14px 0;padding:14px 16px;border:1px solid #e4e0d7;border-radius:10px;break-inside:avoid}
img{max-width:100%;border:1px solid #e4e0d7;border-radius:6px}
sup a{text-decoration:none}p{overflow-wrap:anywhere;white-space:pre-line}
""".strip()


async def shared_page(library: LibraryRow, title: str, turns: Sequence[ConversationTurn]) -> str:
    """Return turns that have an answer as a page of HTML.

    Raises:
        NotFound: none of them has an answer.
    """
    answered = [(turn, turn.answer) for turn in turns if turn.answer is not None]
    if not answered:
        raise NotFound("There is no answer to share", "wait until the question has been answered")
    cited = {c["open"]["source"] for _, answer in answered for c in answer["citations"] if c["open"].get("source")}
    rows = await asyncio.to_thread(lambda: stores().catalog.sources(library.id, sorted(cited)) if cited else [])
    files = {row.id: await asyncio.to_thread(_file, row) for row in rows}
    parts = [await _turn(library, turn, answer, files) for turn, answer in answered]
    head = f"Answered by Ragweave {__version__} from the library “{library.name}”, shared on {_time(now())}."
    return (
        f"{_HEAD}<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f'<h1 dir="auto">{escape(title)}</h1><p class="fine">{escape(head)}</p>{"".join(parts)}</body></html>'
    )


async def _turn(
    library: LibraryRow, turn: ConversationTurn, answer: Mapping[str, Any], files: Mapping[str, str]
) -> str:
    cards = [await _card(library, turn.n, c, files.get(c["open"].get("source", ""), "")) for c in answer["citations"]]
    titles = {c["n"]: c["title"] for c in answer["citations"]}
    text = "".join(_sentence(turn.n, s, titles) for s in answer["sentences"])
    text = text or f"<p>{with_formulas(answer['text'])}</p>"
    notes = "".join(f'<p class="fine">{with_formulas(note)}</p>' for note in answer["notes"])
    by = "without a language model" if answer["mode"] == "extractive" else f"written by {answer.get('model')}"
    head = f'<p class="fine">{escape(f"Asked on {_time(turn.created)}; {by}.")}</p>'
    return f'<section><h2 dir="auto">{escape(turn.question)}</h2>{head}{text}{notes}{"".join(cards)}</section>'


def _sentence(turn: int, sentence: Mapping[str, Any], titles: Mapping[int, str]) -> str:
    marks = "".join(f'<sup><a href="#s{turn}-{int(n)}">[{int(n)}]</a></sup>' for n in sentence["citations"])
    state = sentence["support"] if sentence["support"] in _STATES else "verified"
    told = f'<span class="state">{_STATES[state]}</span>'
    if state == "quoted":
        title = next((titles[n] for n in sentence["citations"] if titles.get(n)), "Untitled")
        quote = f"<h3>{escape(title)} {marks}</h3><blockquote>{as_html(sentence)}</blockquote>"
        return f'<div class="quoted" dir="auto">{quote}{told}</div>'
    if sentence["sign"].startswith("```"):
        return f'<pre class="{state}">{escape(sentence["text"])}</pre><p>{marks}</p>'
    sign = {"-": "• ", "|": ""}.get(sentence["sign"], sentence["sign"].strip() and sentence["sign"] + " ")
    return f'<p class="{state}" dir="auto">{with_formulas(sign + sentence["text"])}{marks} {told}</p>'


async def _card(library: LibraryRow, turn: int, citation: Mapping[str, Any], file: str) -> str:
    picture = await _picture(library, citation, file) if citation["open"].get("source") else ""
    shown = f'<img src="data:image/jpeg;base64,{picture}" alt="The cited place">' if picture else ""
    title = escape(f"[{citation['n']}] {citation['title'] or 'Untitled'}")
    place = escape(citation["locator"].get("url") or where(citation["locator"]))
    return (
        f'<article id="s{turn}-{int(citation["n"])}"><h3 dir="auto">{title}</h3><p class="fine" dir="auto">{place}</p>'
        f'<blockquote dir="auto">{with_formulas(citation["quote"])}</blockquote>{shown}</article>'
    )


async def _picture(library: LibraryRow, citation: Mapping[str, Any], path: str) -> str:
    """Return the cited place as a JPEG in Base64: a strip of a page, a part of a picture, a frame; or nothing."""
    place = citation["locator"]
    box = [float(v) for v in place.get("bbox") or ()]
    try:
        if citation["open"]["view"] == "page" and path:
            _, jpeg = await drawn(Path(path), do="crop", page=int(place["page"]), box=box, quote=citation["quote"])
        elif image := place.get("image"):
            file = await asyncio.to_thread(Media.of(library.id).path, str(image))
            _, jpeg = await drawn(file, do="cut", box=box if citation["open"]["view"] == "picture" else [])
        elif citation["open"]["view"] == "picture" and path:
            _, jpeg = await drawn(Path(path), do="cut", box=box)
        else:
            return ""
    except RagweaveError:
        return ""  # the words stand without it
    return base64.b64encode(jpeg).decode()


def _file(source: Source) -> str:
    """Return where the file of a source lies, or nothing where it is not the file that was indexed."""
    try:
        path = first_file(source.paths)
        return str(path) if digest_of(path) == source.sha256 else ""
    except (NotFound, OSError):
        return ""


def _time(iso: str) -> str:
    return iso[:16].replace("T", " ") + (" UTC" if len(iso) > 10 else "")
