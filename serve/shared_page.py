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
    labels = _labels(answer)
    places: dict[int, list[Mapping[str, Any]]] = {n: [] for n in labels.values()}
    for c in answer["citations"]:
        places[labels[c["n"]]].append(c)
    cards = [await _card(library, f"{turn.n}-{n}", n, same, files) for n, same in sorted(places.items())]
    titles = {c["n"]: c["title"] for c in answer["citations"]}
    text = "".join(_sentence(turn.n, s, titles, labels) for s in answer["sentences"])
    text = text or f"<p>{with_formulas(answer['text'])}</p>"
    notes = "".join(f'<p class="fine">{with_formulas(note)}</p>' for note in answer["notes"])
    by = "without a language model" if answer["mode"] == "extractive" else f"written by {answer.get('model')}"
    head = f'<p class="fine">{escape(f"Asked on {_time(turn.created)}; {by}.")}</p>'
    return f'<section><h2 dir="auto">{escape(turn.question)}</h2>{head}{text}{notes}{"".join(cards)}</section>'


def _labels(answer: Mapping[str, Any]) -> dict[int, int]:
    """Return the number that a reader sees of each citation: one for each place, as the text comes to them."""
    read = [n for s in answer["sentences"] for n in s["citations"]]
    order = sorted(answer["citations"], key=lambda c: read.index(c["n"]) if c["n"] in read else len(read))
    seen: dict[object, int] = {}
    return {c["n"]: seen.setdefault(_place(c) if answer["kind"] == "answer" else c["n"], len(seen) + 1) for c in order}


def _place(citation: Mapping[str, Any]) -> object:
    """Return what tells the place of a citation from those of others, as `placeKey` of the page does."""
    place = citation["locator"]
    return citation["title"], *(str(place.get(k)) for k in ("file", "page", "heading", "start", "url"))


def _sentence(turn: int, sentence: Mapping[str, Any], titles: Mapping[int, str], labels: Mapping[int, int]) -> str:
    shown = dict.fromkeys(labels[n] for n in sentence["citations"] if n in labels)
    marks = "".join(f'<sup><a href="#s{turn}-{n}">[{n}]</a></sup>' for n in shown)
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


async def _card(
    library: LibraryRow, key: str, label: int, citations: Sequence[Mapping[str, Any]], files: Mapping[str, str]
) -> str:
    """Return what is cited of one place, under its number."""
    title = escape(f"[{label}] {citations[0]['title'] or 'Untitled'}")
    place = escape(citations[0]["locator"].get("url") or where(citations[0]["locator"]))
    parts = [f'<article id="s{key}"><h3 dir="auto">{title}</h3><p class="fine" dir="auto">{place}</p>']
    for citation in citations:
        source = citation["open"].get("source")
        picture = await _picture(library, citation, files.get(source, "")) if source else ""
        shown = f'<img src="data:image/jpeg;base64,{picture}" alt="The cited place">' if picture else ""
        parts.append(f'<blockquote dir="auto">{with_formulas(citation["quote"])}</blockquote>{shown}')
    return "".join([*parts, "</article>"])


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
