"""Lay out the rounds of a turn as a conversation with the retriever (Auto-RAG, section 3)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from ragweave.components.bearing import LEFT_OUT
from ragweave.components.evidence import TEXT_LIMIT
from ragweave.components.prose import long, marked, marks
from ragweave.components.rounds import Round
from ragweave.components.tables import described, rows_shown, whole_rows
from ragweave.components.turn import turn_of
from ragweave.models.chat_reply import tokens_of
from ragweave.models.text import clip
from ragweave.prompts import Messages, load, passage, quote

NOTHING = "No new document was found."
RECALLED = "From your own memory, not from the library"
UNSURE = "The search found nothing sure, also in other words: "
_SHORTEST = 120
"""Characters of each document below which the last round is not cut further."""
_REPEATED = 40
"""Characters from which a passage of an earlier round is not repeated in its document."""


def conversation(
    question: str,
    past: Sequence[Round],
    budget: int,
    preface: str = "",
    sentences: int = 3,
    published: bool = False,
) -> Messages:
    """Return the messages of the conversation within a budget of estimated tokens.

    If the last round found nothing, earlier rounds show only the documents that the model has cited, and name
    the others. If the messages exceed the budget, a line that names them replaces the documents of the oldest
    rounds; what was learnt from them stays. If the last round alone exceeds it, its documents are cut.

    Args:
        question: question of the turn.
        past: the rounds so far.
        budget: tokens that the messages may have.
        preface: text before the question.
        sentences: longest answer; 0: no limit.
        published: use the form in which Auto-RAG was trained, not our own.
    """
    past = _without_uncited(past) if past and past[-1].weak and not published else past
    prompt = "reason_auto_rag" if published else "reason"
    opening = load(prompt, question=question, told=preface, length=long(sentences))
    folded = 0
    length = _longest(past)
    while True:
        messages = _laid_out(opening, question, past, folded, length, published)
        size = sum(tokens_of(text) for _, text in messages)
        if size <= budget or (folded >= len(past) - 1 and length <= _SHORTEST):
            return messages
        if folded < len(past) - 1:
            folded += 1
        else:
            length //= 2


def _longest(past: Sequence[Round]) -> int:
    """Return the characters of the longest document; TEXT_LIMIT if there is none."""
    lengths: list[int] = []
    for r in past:
        for _, _, text in r.documents:
            lengths.append(len(text))
    return max(lengths, default=TEXT_LIMIT)


def _laid_out(
    opening: Messages, question: str, past: Sequence[Round], folded: int, length: int, published: bool
) -> Messages:
    """Return the opening and the rounds as messages; the first `folded` rounds only name their documents."""
    messages = [*opening]
    tables: dict[int, int] = {}
    for n, r in enumerate(past):
        shortened = _without_repeats(r, past[folded:n])
        number = n + 1 if published else 0
        documents = documents_message(shortened, length, n < folded, number, tables)
        is_opening = n == 0 and r.query == question
        if is_opening and not (r.learnt or r.missing or published):
            messages[-1] = ("user", f"{messages[-1][1]}\n\n{documents}")
            continue
        turn = turn_of(r.learnt, r.missing, (r.query, *r.also), published=published)
        messages.append(("assistant", turn))
        messages.append(("user", documents))
    return messages


def _without_uncited(past: Sequence[Round]) -> Sequence[Round]:
    """Return the rounds, the earlier ones with the text of cited documents alone, if any was cited."""
    cited: set[int] = set()
    for r in past[1:]:
        cited.update(marks(marked(r.learnt)))
    if not cited:
        return past
    out: list[Round] = []
    for r in past[:-1]:
        out.append(_cited_alone(r, cited))
    out.append(past[-1])
    return out


def _cited_alone(r: Round, cited: Container[int]) -> Round:
    """Return a round with the text of its cited documents alone; the others keep number and title."""
    documents: list[tuple[int, str, str]] = []
    files: list[str] = []
    left: list[tuple[int, str]] = []
    for n, (number, title, text) in enumerate(r.documents):
        if number not in cited:
            left.append((number, title))
            continue
        documents.append((number, title, text))
        if r.files:
            files.append(r.files[n])
    return replace(r, documents=tuple(documents), files=tuple(files), left=tuple(left))


def _without_repeats(r: Round, before: Sequence[Round]) -> Round:
    """Return a round whose documents refer to passages that earlier rounds showed of the same file."""
    known: list[tuple[str, str, int]] = []
    for b in before:
        for (n, _, text), file in zip(b.documents, b.files, strict=False):
            for part in text.split(LEFT_OUT):
                if file and len(part) >= _REPEATED:
                    known.append((part, file, n))
    known.sort(key=lambda k: -len(k[0]))
    documents = list(r.documents)
    for at, file in enumerate(r.files):
        number, title, text = documents[at]
        for part, source, n in known:
            if source == file:
                text = text.replace(part, f"[… as in [{n}]]")
        documents[at] = number, title, text
    return replace(r, documents=tuple(documents))


def documents_message(
    r: Round,
    length: int = TEXT_LIMIT,
    folded: bool = False,
    published: int = 0,
    tables: dict[int, int] | None = None,
) -> str:
    """Return the results of a round as the user's turn.

    Args:
        r: the round.
        length: characters of each document.
        folded: name the documents without their text.
        published: number of the round if its documents form one document, as Auto-RAG shows them; else 0.
        tables: number of the document under which each table was described, by its key; completed here.
    """
    if not (r.documents or r.left or r.grown or r.more):
        return NOTHING
    if published and not folded:
        texts = [f"{title}\n{clip(text, length)}" for _, title, text in r.documents]
        return f"Retrieved Document_{published}:\n" + quote("\n".join(texts))
    head = ""
    lines: list[str] = []
    if not folded:
        head = f"{RECALLED}:\n" if r.recalled else ""
        if r.rewrites:
            head = f"{UNSURE}{'; '.join(r.rewrites)}\n"
        lines = _numbered(r, length, {} if tables is None else tables)
    if r.grown:
        lines.append(f"{_brackets(r.grown)} above: read whole")
    if r.more:
        lines.append(f"{_brackets(r.more)} above: more of it")
    names = _names_left(r, folded)
    if names:
        lines.append("Read and summed up in your next turn:\n" + quote("; ".join(names)))
    return head + "\n".join(lines)


def _names_left(r: Round, folded: bool) -> list[str]:
    """Return the documents of a round that are named without their text; all of them if it is folded."""
    names: list[str] = []
    if folded:
        for number, title, _ in r.documents:
            names.append(f"[{number}] {title}")
    for number, title in r.left:
        names.append(f"[{number}] {title}")
    return names


def _brackets(numbers: Sequence[int]) -> str:
    return "".join(f"[{n}]" for n in numbers)


def _numbered(r: Round, length: int, tables: dict[int, int]) -> list[str]:
    """Return the documents of a round; one with a part of a table states its rows and how to query all."""
    lines: list[str] = []
    for n, title, text in r.documents:
        parts = r.tables.get(n, ())
        text = clip(text, length)
        if parts:
            text = whole_rows(parts, text)
        rows = rows_shown(parts, text, tables)
        lines.append(passage(n, f"{title} ({rows})" if rows else title, text))
        lines += described(n, parts, text, tables)
    return lines
