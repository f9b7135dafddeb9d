"""A turn of questions so far, laid out as a conversation with the retriever (Auto-RAG, section 3)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace

from ragweave.components.bearing import LEFT_OUT
from ragweave.components.evidence import TEXT_LIMIT, Evidence, Hop, Strip
from ragweave.components.knowledge import Knowledge
from ragweave.components.passages import headed, is_nested, untitled
from ragweave.components.prose import long, marked, marks
from ragweave.components.tables import TablePart, described, told, whole_rows
from ragweave.components.turn import turn_of
from ragweave.models.chat_reply import tokens_of
from ragweave.models.text import clip
from ragweave.prompts import Messages, load, passage, quote

NOTHING = "No new document was found."
RECALLED = "From your own memory, not from the library"
UNSURE = "The search found nothing sure, also in other words: "
_SHORTEST = 120
"""Characters to which documents are cut, at most, when even the last round does not fit."""
_IN_ANOTHER = "[… part of a document that is read whole]"
"""What stands for a passage whose document is shown."""
_REPEATED = 40
"""Characters from which a passage that an earlier round showed is not shown again in its document."""


@dataclass(frozen=True)
class Round:
    """One round of the conversation.

    Attributes:
        query: what was asked.
        learnt: what the model said it had learnt before it asked.
        missing: what it said was missing.
        documents: (number, title, text) of what came back.
        recalled: the documents are the model's own words.
        also: what else was asked in the same turn.
        shown: ids of the documents.
        files: where each document comes from; "" where no other can hold its text.
        weak: the grade calls all of them irrelevant.
        grown: numbers of documents of earlier rounds that it found again, and that are whole in their place.
        more: numbers of others that it found again, of which more is shown in their place.
        left: (number, title) of documents that are not sent again.
        rewrites: other words for the query that were searched.
        tables: tables that a document shows a part of, by its number.
    """

    query: str
    learnt: str
    missing: str
    documents: tuple[tuple[int, str, str], ...]
    recalled: bool = False
    also: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    weak: bool = False
    grown: tuple[int, ...] = ()
    more: tuple[int, ...] = ()
    left: tuple[tuple[int, str], ...] = ()
    rewrites: tuple[str, ...] = ()
    tables: dict[int, Sequence[TablePart]] = field(default_factory=dict)


def rounds(known: Knowledge, most: int) -> list[Round]:
    """Lay out the turn so far: what each round asked, and the best `most` documents that no earlier round had shown."""
    texts: dict[str, list[Strip]] = {}
    for s in known.strips:
        texts.setdefault(s["evidence"], []).append(s)
    rows = {e["id"]: e for e in known.rows}
    out: list[Round] = []
    before, (learnt, missing) = 0, known.plan or ("", "")
    for hop, fresh in zip(known.hops, shown(known.hops, texts, most), strict=True):
        documents = tuple(
            (before + n, *_titled(texts.get(i, ()), rows.get(i))) for n, i in enumerate(fresh, 1)
        )
        recalled = bool(fresh) and all(i in texts and texts[i][0]["origin"] == "model" for i in fresh)
        also = tuple(hop.get("also", ()))
        files = tuple(
            rows[i]["locator"].get("file", "") if i in rows and is_nested(rows[i]) else "" for i in fresh
        )
        numbered = enumerate((i for r in out for i in r.shown), 1)
        searched = hop["corpora"] != ["table"]  # a result is of the round whose documents it is asked of
        found_again = [(n, i) for n, i in numbered if searched and i in rows and rows[i]["hop"] == hop["n"]]
        grown = tuple(n for n, i in found_again if any(s.get("whole") for s in texts.get(i, ())))
        more = tuple(n for n, _ in found_again if n not in grown)
        weak = not found_again and (not fresh or hop.get("action") == "incorrect")
        made = Round(
            hop["query"],
            learnt,
            missing,
            documents,
            recalled,
            also,
            tuple(fresh),
            files,
            weak,
            grown,
            more=more,
        )
        tables = {before + n: known.tables[i] for n, i in enumerate(fresh, 1) if i in known.tables}
        out.append(replace(made, tables=tables, rewrites=tuple(hop.get("rewrites", ()))))
        before += len(fresh)
        learnt, missing = hop["learnt"], hop["missing"]
    return out


def _titled(strips: Sequence[Strip], row: Evidence | None) -> tuple[str, str]:
    """Return title and text of a document; one that another document holds by now keeps its number, and says so."""
    if not strips:
        return headed(row["title"] if row else "", row), _IN_ANOTHER
    return headed(strips[0]["title"], row), LEFT_OUT.join(map(untitled, strips))


def shown(hops: Sequence[Hop], kept: Container[str], most: int) -> list[list[str]]:
    """Return the ids of each round's best `most` documents, of those kept, that no earlier round had shown."""
    out: list[list[str]] = []
    for hop in hops:
        before = hop.get("shown")
        seen = {i for ids in out for i in ids}
        fresh = [i for i in hop["evidence"] if i in kept and i not in seen][:most]
        out.append(fresh if before is None else [*before])
    return out


def with_shown(known: Knowledge, most: int) -> list[Hop]:
    """Return the rounds with what each showed first; so a document has the same number in every later round."""
    ids = shown(known.hops, {s["evidence"] for s in known.strips}, most)
    return [Hop(**{**hop, "shown": own}) for hop, own in zip(known.hops, ids, strict=True)]


def conversation(
    question: str,
    past: Sequence[Round],
    budget: int,
    told: str = "",
    sentences: int = 3,
    published: bool = False,
) -> Messages:
    """Return the messages of the conversation, within a budget of estimated tokens; what was shown stays as it was.

    It is in our form, or as Auto-RAG is trained and asked (`published`). Where the last round brought
    nothing, what the model has cited is sent again, and the rest by its name. Where they do not fit, the
    documents of the oldest rounds are replaced by a line that names them (what was learnt from them stays);
    where the last round alone does not fit, its documents are cut.
    """
    cited = {n for r in past[1:] for n in marks(marked(r.learnt))}
    if cited and past[-1].weak and not published:
        past = [*(_cited_alone(r, cited) for r in past[:-1]), past[-1]]
    prompt = "reason_auto_rag" if published else "reason"
    opening = load(prompt, question=question, told=told, length=long(sentences))
    folded, length = 0, max((len(text) for r in past for *_, text in r.documents), default=TEXT_LIMIT)
    while True:
        messages, tables = [*opening], dict[int, int]()
        for n, r in enumerate(past):
            shown = _fresh(r, past[folded:n])
            documents = documents_message(shown, length, n < folded, n + 1 if published else 0, tables)
            if n == 0 and r.query == question and not (r.learnt or r.missing or published):
                messages[-1] = ("user", f"{messages[-1][1]}\n\n{documents}")
                continue
            messages.append(
                ("assistant", turn_of(r.learnt, r.missing, (r.query, *r.also), published=published))
            )
            messages.append(("user", documents))
        fits = sum(tokens_of(text) for _, text in messages) <= budget
        if fits or (folded >= len(past) - 1 and length <= _SHORTEST):
            return messages
        if folded < len(past) - 1:
            folded += 1
        else:
            length //= 2


def _cited_alone(r: Round, cited: Container[int]) -> Round:
    """Return a round of which the documents that were not cited are left by their names."""
    kept = [n for n, row in enumerate(r.documents) if row[0] in cited]
    files = tuple(r.files[n] for n in kept) if r.files else ()
    left = tuple((number, title) for number, title, _ in r.documents if number not in cited)
    return replace(r, documents=tuple(r.documents[n] for n in kept), files=files, left=left)


def _fresh(r: Round, before: Sequence[Round]) -> Round:
    """Return a round whose documents refer to what earlier rounds showed of their files instead of saying it again."""
    known = [
        (part, file, n)
        for b in before
        for (n, _, text), file in zip(b.documents, b.files, strict=False)
        for part in text.split(LEFT_OUT)
        if file and len(part) >= _REPEATED
    ]
    documents = list(r.documents)
    for at, file in enumerate(r.files):
        number, title, text = documents[at]
        for part, of, n in sorted(known, key=lambda k: -len(k[0])):
            text = text.replace(part, f"[… as in [{n}]]") if of == file else text
        documents[at] = number, title, text
    return replace(r, documents=tuple(documents))


def documents_message(
    r: Round,
    length: int = TEXT_LIMIT,
    folded: bool = False,
    published: int = 0,
    tables: dict[int, int] | None = None,
) -> str:
    """Return what a round brought, as the user's turn: `length` characters of each document, or its name alone.

    `published` is the number of the round where they stand together as one document, as Auto-RAG shows them.
    `tables` has the numbers under which tables were described, and is completed.
    """
    if not (r.documents or r.left or r.grown or r.more):
        return NOTHING
    if published and not folded:
        texts = "\n".join(f"{title}\n{clip(text, length)}" for _, title, text in r.documents)
        return f"Retrieved Document_{published}:\n{quote(texts)}"
    left = [*((n, title) for n, title, _ in r.documents if folded), *r.left]
    head = f"{RECALLED}:\n" if r.recalled and not folded else ""
    if r.rewrites and not folded:
        head = f"{UNSURE}{'; '.join(r.rewrites)}\n"
    lines = [] if folded else _numbered(r, length, {} if tables is None else tables)
    if r.grown:
        lines.append(f"{''.join(f'[{n}]' for n in r.grown)} above: read whole")
    if r.more:
        lines.append(f"{''.join(f'[{n}]' for n in r.more)} above: more of it")
    if left:
        names = "; ".join(f"[{n}] {title}" for n, title in left)
        lines.append(f"Read and summed up in your next turn:\n{quote(names)}")
    return head + "\n".join(lines)


def _numbered(r: Round, length: int, tables: dict[int, int]) -> list[str]:
    """Return the documents of a round; one that shows a part of a table says which rows, and how to ask for all."""
    lines = []
    for n, title, text in r.documents:
        parts, text = r.tables.get(n, ()), clip(text, length)
        text = whole_rows(parts, text) if parts else text
        rows = told(parts, text, tables)
        lines.append(passage(n, f"{title} ({rows})" if rows else title, text))
        lines += described(n, parts, text, tables)
    return lines
