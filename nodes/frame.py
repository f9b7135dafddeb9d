"""Frame the turn: the last message becomes a standalone question, and per-turn keys are reset."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ragweave.minds.context import Context
from ragweave.minds.small.reason import open_words
from ragweave.models.chat import Chat
from ragweave.models.errors import InputError
from ragweave.models.text import clip, content_terms, fold, names, script
from ragweave.nodes.answer import Answer
from ragweave.nodes.attached import attached, said, seen
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update
from ragweave.prompts import load

QUESTION_LIMIT = 8_000
"""Characters a question may have."""
_TURNS_SHOWN = 6

_REFERS = re.compile(
    r"\b(it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|one|ones|there|then|same|former|latter"
    r"|above|previous|er|sie|ihr|ihre|sein|seine|dessen|il|elle|ils|elles|son|sa|ses|él|ella|ellos|su|sus|eso|esto)\b",
    re.I,
)
_REFERS_CJK = re.compile("它|他|她|这|那|其|该|此|前者|后者|呢")
_CONTINUES = re.compile(
    r"^\W*(and|but|so|also|what about|how about|why|when|where|who|how (?:many|much|long|old|far)|und|et|y)\b"
    r"|^\W*(那|那么|还有)",
    re.I,
)
_OPENS = re.compile(r"\W*(?:why|when|where|who|how (?:many|much|long|old|far))\b.*\bthe \w+", re.I)
"""A question that says itself what it is about, such as “Who replaced the crane?”."""
_ABOUT = re.compile(r"\W*(?:and )?(?:what|how) about\b", re.I)
_POSSESSIVE = {"its", "their", "theirs", "his", "hers"}
_PERSON = re.compile(r"\b(he|him|his|she|her|hers|they|them|their|it|its)\b", re.I)
_CJK_PRONOUN = re.compile("它们|他们|她们|它|他|她")

_CONTINUED = 2
"""Content words up to which “and ...” may be a part of a question; one with more stands by itself."""


async def frame(state: State, runtime: Runtime[Context]) -> Update:
    """Return the standalone question and a clean slate for this turn.

    Raises:
        InputError: if the last turn holds no text, or more than QUESTION_LIMIT characters.
    """
    turn = uuid.uuid4().hex
    run = Run.of("frame", state, runtime, turn)
    messages = state.get("messages", [])
    asked = _last_question(messages)
    history = messages[: _index_of_last_human(messages)]
    question = asked
    if any(isinstance(m, HumanMessage) for m in history):
        question = await run.decide(
            run.chat("judge"),
            lambda model: _rewrite(model, run, history, asked),
            lambda: _resolve(asked, history, _answered(state)),
        )
    last = messages[len(history)]
    if pictures := attached(last):
        question = await seen(run, question, pictures)
    text_alone: Update = {}
    if isinstance(last.content, list) and any(p.get("type") != "text" for p in last.content if isinstance(p, dict)):
        # Pixels do not stay in the state.
        text_alone = {"messages": [HumanMessage(last.text, id=last.id)]}
        run.note("What was sent beside the text was not looked at; `ragweave serve` takes pictures with a question.")
    update = run.done(question if question == asked else f"“{asked}” read as “{question}”", data={"question": question})
    return {
        **text_alone,
        "turn": turn,
        "question": question,
        "query": question,
        "hop": 1,
        "recalls": 0,
        "enough": False,
        "candidates": [],
        "tasks": [],
        "looked": {},
        "timeline": None,
        "grade": None,
        "consent": None,
        "draft": [],
        "citations": [],
        "mind": "small",
        "dropped": 0,
        "abstain": "",
        "answer": None,
        **{key: Overwrite([]) for key in ("routes", "queries", "found", "evidence", "knowledge", "hops")},
        "best": Overwrite(-1.0),
        "usage": Overwrite(update["usage"]),
        "notes": Overwrite(update.get("notes", [])),
    }


def _index_of_last_human(messages: Sequence[AnyMessage]) -> int:
    for i in range(len(messages) - 1, -1, -1):
        if isinstance(messages[i], HumanMessage):
            return i
    return 0


def _answered(state: State) -> Answer | None:
    """Return the previous answer; a server that keeps threads in its own way hands it back as a dict."""
    last = state.get("answer")
    return None if last is None else Answer.model_validate(last)


def _last_question(messages: Sequence[AnyMessage]) -> str:
    if not messages or not isinstance(messages[_index_of_last_human(messages)], HumanMessage):
        raise InputError("there is no question", "send a human message that asks something")
    text = messages[_index_of_last_human(messages)].text.strip()
    check_question(text)
    return text


def check_question(text: str) -> None:
    """Refuse what no graph could answer.

    Raises:
        InputError: it is empty, or too long.
    """
    if not any(c.isalnum() for c in text):
        raise InputError("the question is empty", "write what you want to know")
    if len(text) > QUESTION_LIMIT:
        raise InputError(
            f"the question has {len(text):,} characters, and {QUESTION_LIMIT:,} are allowed",
            "shorten it, or index the long text as a file and ask about it",
        )


async def _rewrite(model: Chat, run: Run, history: Sequence[AnyMessage], asked: str) -> str | None:
    shown = "\n".join(f"{m.type}: {clip(said(m), 500)}" for m in history[-_TURNS_SHOWN:])
    reply = (await model.text(load("frame", history=shown, question=asked), node=run.node, meter=run.meter)).strip()
    # A reply far longer than the turn is an answer or a refusal, not a question.
    return reply if 0 < len(reply) <= max(400, 4 * len(asked)) and "\n" not in reply else None


async def _resolve(asked: str, history: Sequence[AnyMessage], last: Answer | None) -> str:
    """Resolve a follow-up by rule.

    A turn follows up when it refers back (pronoun, demonstrative) or continues (“and ...”, “what about ...”) without
    naming anything itself. The topic is what the previous question named, else the title the previous answer cited
    first. A personal pronoun is replaced by the topic; otherwise the topic is added in brackets.
    """
    previous = next((said(m) for m in reversed(history) if isinstance(m, HumanMessage)), "")
    cjk = script(asked) in {"han", "kana", "hangul"}
    refers = bool((_REFERS_CJK if cjk else _REFERS).search(asked))
    whole = len(content_terms(asked)) > _CONTINUED
    continues = (bool(_CONTINUES.search(asked)) and not whole) or (cjk and len(asked) <= 12)
    own = [n for n in names(asked) if fold(n) not in {fold(w) for w in asked.split()[:1]}]
    if own and _ABOUT.match(asked):
        return _same_question_about(previous, own[0]) or f"{asked} ({previous})"
    if not refers and not (continues and not own):
        return asked
    topic = _topic(previous, last, guess=refers or cjk or not _OPENS.match(asked))
    if not topic or fold(topic) in fold(asked):
        return asked
    pronoun = (_CJK_PRONOUN if cjk else _PERSON).search(asked)
    if pronoun:
        ending = "'s" if not cjk and pronoun.group().lower() in _POSSESSIVE else ""
        return asked[: pronoun.start()] + topic + ending + asked[pronoun.end() :]
    return f"{asked} ({topic})"


def _topic(previous: str, last: Answer | None, guess: bool) -> str:
    """Return the name that the turn before was about; without one, a guess for a question that leans on it."""
    answered = last.question if last is not None and last.question else previous
    named = [n for n in names(answered) if len(n) > 1]
    if named:
        return max(named, key=lambda n: (len(n.split()) > 1, len(n)))
    if not guess:
        return ""
    if last is not None and last.citations:
        return last.citations[0].title
    return " ".join(open_words(answered, [])[:6])


def _same_question_about(previous: str, name: str) -> str:
    named = names(previous)
    return previous.replace(named[0], name) if len(named) == 1 else ""
