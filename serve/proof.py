"""A proof to send: answers as one file of HTML or Markdown, with what they rest on, its dates and its hashes."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

from fastapi import Response

from ragweave import __version__
from ragweave.components.phrases import HEARD
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clock
from ragweave.serve.drawing import drawn, first_file
from ragweave.serve.formulas import in_markdown, with_formulas
from ragweave.serve.problems import NotFound
from ragweave.serve.quotes import as_html, as_markdown, in_block
from ragweave.serve.store import ConversationTurn, now
from ragweave.serve.uploads import digest_of

Form = Literal["html", "markdown"]
_FORMS: dict[Form, tuple[str, str]] = {"html": ("html", "text/html"), "markdown": ("md", "text/markdown")}
"""The ending and the media type of a file."""
_STATES = {
    "verified": "✓ verified",
    "unverified": "? unverified: nothing was found that says this",
    "contradicted": "≠ contradicted: a source says otherwise",
    "model": "the model's own knowledge: no source says this",
    "quoted": "quoted from the source; no language model read it",
    "unchecked": "not checked: it only frames the answer, or this run asked for no check",
}
_LINKED = """The hash of a source is the SHA-256 of its file: `sha256sum FILE` prints it. A link opens for whoever may
read the library; pictures of the cited places are in the same proof as HTML."""
_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"
content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">"""
_STYLE = """
body{max-width:760px;margin:32px auto;padding:0 20px;font:16px/1.6 system-ui,sans-serif;color:#1f1e1b;background:#fff}
h1{font-size:24px;line-height:1.3}h2{font-size:20px;margin-top:44px}h3{font-size:15px;margin:0 0 2px}
.fine,dl{font-size:13.5px;color:#5f5b53}code{font:12.5px ui-monospace,monospace;overflow-wrap:anywhere}
.state{font-size:12.5px;white-space:nowrap;color:#2c6b3f}.unverified .state,.model .state{color:#7a4f00}
.contradicted .state{color:#a32a22}.quoted .state{color:#5f5b53}
mark{background:#fbeeb8;color:inherit}
table{border-collapse:collapse}td,th{padding:2px 12px 2px 0;text-align:left;border-bottom:1px solid #e4e0d7}
blockquote{margin:8px 0;padding-left:12px;border-left:3px solid #cfe3df}
article{margin:14px 0;padding:14px 16px;border:1px solid #e4e0d7;border-radius:10px;break-inside:avoid}
img{max-width:100%;border:1px solid #e4e0d7;border-radius:6px}dl{display:grid;grid-template-columns:auto 1fr;gap:0 12px}
dd{margin:0;overflow-wrap:anywhere}sup a{text-decoration:none}p{overflow-wrap:anywhere;white-space:pre-line}
""".strip()


async def proof(
    library: LibraryRow, title: str, turns: Sequence[ConversationTurn], form: Form = "html", base: str = ""
) -> str:
    """Return turns that have an answer as a page of HTML, pictures and all, or as Markdown, which links to the places.

    `base` is the address of this server, for those links.
    """
    told = [(turn, turn.answer) for turn in turns if turn.answer is not None]
    if not told:
        raise NotFound("There is no answer to save", "wait until the question has been answered")
    ids = sorted({c["open"]["source"] for _, answer in told for c in answer["citations"] if c["open"].get("source")})
    rows = await asyncio.to_thread(lambda: stores().catalog.sources(library.id, ids) if ids else [])
    held = {row.id: (row, await asyncio.to_thread(_file, row)) for row in rows}
    parts = [await _turn(library, turn, answer, held) for turn, answer in told]
    head = f"Answered by Ragweave {__version__} from the library “{library.name}”, saved on {_time(now())}."
    if form == "markdown":
        parts = [part for turn, answer in told for part in _markdown(turn, answer, held, base)]
        return "\n\n".join([f"# {in_markdown(title)}", f"{in_markdown(head)} {_LINKED}", *parts]) + "\n"
    return (
        f"{_HEAD}<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f'<h1 dir="auto">{escape(title)}</h1><p class="fine">{escape(head)} The hash of a source is the SHA-256 of its '
        f"file: <code>sha256sum FILE</code> prints it.</p>{''.join(parts)}</body></html>"
    )


def as_file(page: str, form: Form) -> Response:
    """Return a proof as a file that a browser saves."""
    ending, kind = _FORMS[form]
    named = {"Content-Disposition": f'attachment; filename="answer.{ending}"', "Content-Security-Policy": "sandbox"}
    return Response(page, media_type=f"{kind}; charset=utf-8", headers=named)


async def _turn(library: LibraryRow, turn: ConversationTurn, answer: Mapping[str, Any], held: Mapping[str, Any]) -> str:
    cards = [await _card(library, turn.n, c, held.get(c["open"].get("source", ""))) for c in answer["citations"]]
    titles = {c["n"]: c["title"] for c in answer["citations"]}
    said = (
        "".join(_sentence(turn.n, s, titles) for s in answer["sentences"]) or f"<p>{with_formulas(answer['text'])}</p>"
    )
    notes = "".join(f'<p class="fine">{with_formulas(note)}</p>' for note in answer["notes"])
    head = f'<h2 dir="auto">{escape(turn.question)}</h2><p class="fine">{escape(_asked(turn, answer))}</p>'
    return f"<section>{head}{said}{notes}{''.join(cards)}</section>"


def _asked(turn: ConversationTurn, answer: Mapping[str, Any]) -> str:
    at = _time(turn.created)
    if not answer["mode"]:
        return f"Noted on {at} by the reader."
    by = "answered without a language model" if answer["mode"] == "extractive" else f"written by {answer.get('model')}"
    return f"Asked on {at}; {by}."


def _sentence(turn: int, sentence: Mapping[str, Any], titles: Mapping[int, str]) -> str:
    marks = "".join(f'<sup><a href="#s{turn}-{int(n)}">[{int(n)}]</a></sup>' for n in sentence["citations"])
    state = _state(sentence)
    if state == "quoted":
        head = f"<h3>{escape(_titled(sentence, titles))} {marks}</h3>"
        sign = f'<span class="state">{_STATES[state]}</span>'
        return f'<div class="quoted" dir="auto">{head}<blockquote>{as_html(sentence)}</blockquote>{sign}</div>'
    if sentence["sign"].startswith("```"):
        return f'<pre class="{state}">{escape(sentence["text"])}</pre><p>{marks}</p>'
    sign = {"-": "• ", "|": ""}.get(sentence["sign"], sentence["sign"].strip() and sentence["sign"] + " ")
    text = with_formulas(sign + sentence["text"])
    return f'<p class="{state}" dir="auto">{text}{marks} <span class="state">{_STATES[state]}</span></p>'


def _titled(sentence: Mapping[str, Any], titles: Mapping[int, str]) -> str:
    return next((titles[n] for n in sentence["citations"] if titles.get(n)), "Untitled")


def _state(sentence: Mapping[str, Any]) -> str:
    return sentence["support"] if sentence["support"] in _STATES else "verified"


async def _card(library: LibraryRow, turn: int, citation: Mapping[str, Any], found: tuple[Source, str] | None) -> str:
    picture = await _picture(library, citation, found[1]) if found else ""
    facts = _facts(citation, found)
    rows = "".join(f"<dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd>" for name, value in facts)
    shown = f'<img src="data:image/jpeg;base64,{picture}" alt="The cited place">' if picture else ""
    stands, quote = escape(where(citation["locator"])), with_formulas(citation["quote"])
    return (
        f'<article id="s{turn}-{int(citation["n"])}"><h3 dir="auto">{escape(_title(citation))}</h3>'
        f'<p class="fine" dir="auto">{stands}</p><blockquote dir="auto">{quote}</blockquote>'
        f"{shown}<dl>{rows}</dl></article>"
    )


def _markdown(turn: ConversationTurn, answer: Mapping[str, Any], held: Mapping[str, Any], base: str) -> list[str]:
    """Return the paragraphs of a turn."""
    titles = {c["n"]: c["title"] for c in answer["citations"]}
    said = [_line(s, titles) for s in answer["sentences"]] or [_lines(answer["text"])]
    parts = [f"## {in_markdown(turn.question)}", in_markdown(_asked(turn, answer)), *said]
    parts += [_lines(note) for note in answer["notes"]]
    for c in answer["citations"]:
        facts = [(name, in_markdown(value)) for name, value in _facts(c, held.get(c["open"].get("source", "")))]
        facts += [("Opens at", f"<{base}{c['open']['href']}>")] if "href" in c["open"] else []
        parts += [f"### {in_markdown(_title(c))}", in_markdown(where(c["locator"])), f"> {_lines(c['quote'], '> ')}"]
        parts += ["\n".join(f"- {name}: {value}" for name, value in facts)]
    return [part for part in parts if part]


def _line(sentence: Mapping[str, Any], titles: Mapping[int, str]) -> str:
    marks = "".join(rf"\[{int(n)}\]" for n in sentence["citations"])
    if _state(sentence) == "quoted":
        head = f"{in_block(in_markdown(_titled(sentence, titles)))} {marks} *({_STATES['quoted']})*"
        return f"{head}\n\n{as_markdown(sentence)}"
    if sentence["sign"].startswith("```"):
        return f"{sentence['sign']}\n{sentence['text']}\n```\n{marks}"
    sign = "" if sentence["sign"] == "|" or not sentence["sign"].strip() else f"{sentence['sign']} "
    return f"{sign}{_lines(sentence['text'])} {marks} *({_STATES[_state(sentence)]})*"


def _lines(text: str, before: str = "") -> str:
    """Return a text whose lines stay apart, and none of which begins a list or a heading."""
    lines = (in_block(in_markdown(line)) for line in text.strip().splitlines())
    return f"  \n{before}".join(lines)


def _title(citation: Mapping[str, Any]) -> str:
    return f"[{citation['n']}] {citation['title'] or 'Untitled'}"


def _facts(citation: Mapping[str, Any], found: tuple[Source, str] | None) -> list[tuple[str, str]]:
    """Return what is known of the file or the page that is cited, each with its name."""
    if found is not None:
        source, path = found
        facts = [("File", Path(source.path).name), ("SHA-256", source.sha256), ("Size", f"{source.bytes:,} bytes")]
        facts += [("Document of", str(source.date.date()) if source.date else "")]
        facts += [("Indexed on", _time(source.indexed_at))]
        facts += [("Note", "" if path else "the file was moved, deleted or changed since it was indexed")]
    elif url := citation["locator"].get("url"):
        facts = [("Address", url), ("Read on", _time(citation["locator"].get("fetched", "")))]
    else:
        facts = [("Note", "the source is no longer in the library")]
    return [(name, value) for name, value in facts if value]


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


def where(place: Mapping[str, Any]) -> str:
    """Say where in its file something stands."""
    if "start" in place:
        seconds = f"{clock(place['start'])}–{clock(place.get('end', place['start']))}"
        return f"{seconds} {HEARD}" if place.get("doubtful") else seconds
    if "page" in place:
        return f"page {place['page']}"
    return " › ".join(place.get("heading") or ()) or (f"line {place['line']}" if place.get("line") else "")


def _time(iso: str) -> str:
    return iso[:16].replace("T", " ") + (" UTC" if len(iso) > 10 else "")
