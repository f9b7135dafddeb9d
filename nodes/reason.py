"""Reason over what was found: what was learnt, what is missing, the next query or enough (Auto-RAG, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph.runtime import Runtime
from pydantic import BaseModel

from ragweave.models.chat import Chat
from ragweave.models.text import clip, content_terms, fold, names, sentences, terms
from ragweave.nodes.context import Context
from ragweave.nodes.passages import as_strip, known
from ragweave.nodes.run import Run
from ragweave.nodes.state import Hop, Route, State, Strip, Then, Update, merge_strips
from ragweave.prompts import load, quote

_SHOWN = 12
"""Strips that the reasoner reads."""
COVERED = 0.75
"""Share of the question's words, by rarity, that one strip with its title must cover to be taken as the answer."""


class Turn(BaseModel):
    """What the model is asked for."""

    learnt: str = ""
    missing: str = ""
    enough: bool = False
    query: str = ""


@dataclass(frozen=True)
class Decision:
    """Outcome of one round of reasoning; an empty query means enough."""

    learnt: str
    missing: str
    query: str


async def reason(state: State, runtime: Runtime[Context]) -> Update:
    """Return the trace of this hop, and either the next query or that the answer can be written.

    Hops are counted here: when they are spent no model is asked, because nothing is left to decide.
    """
    run = Run.of("reason", state, runtime)
    opening = not state.get("tasks") and not state.get("evidence") and not state.get("routes")
    learnt = [] if state.get("grade") else _taken(state)
    strips = known({**state, "knowledge": merge_strips(state.get("knowledge"), learnt)}, _SHOWN)
    asked = [state["question"], *(h["query"] for h in state.get("hops", [])), state["query"]]
    can_search = run.context.max_hops >= 1 if opening else state["hop"] < run.context.max_hops
    can_recall = state.get("recalls", 0) < run.context.max_recalls and run.chat("writer") is not None
    if opening:
        decision = await run.decide(
            run.chat("judge"), lambda model: _by_model(model, run, state, [], []), lambda: _open(state["question"])
        )
    elif can_search or can_recall:
        decision = await run.decide(
            run.chat("judge"),
            lambda model: _by_model(model, run, state, strips, asked),
            lambda: _by_rule(run, state, strips, asked),
        )
    else:
        run.by = "rule"
        decision = Decision(_learnt(strips, state["hop"]), "", "")
    if not opening and repeated(decision.query, asked):
        decision = Decision(decision.learnt, decision.missing, "")
    then: Then = "generate" if not decision.query else "more" if can_search else "recall" if can_recall else "generate"
    update: Update = {"then": then, "enough": not decision.query, "knowledge": learnt}
    if then == "more":
        update |= {"query": decision.query, "hop": state["hop"] + (not opening), "candidates": [], "grade": None}
    elif then == "recall":
        update |= {"query": decision.query}
    elif opening:
        none: Route = {"hop": state["hop"], "corpora": ["none"], "confidence": {}, "by": run.by}
        update |= {"routes": [none]}
    if not opening:
        update |= {"hops": [_row(state, decision, run)]}
    told = {"more": f"next: {decision.query}", "recall": f"recall: {decision.query}", "generate": "enough"}[then]
    summary = "; ".join(s for s in (decision.learnt, decision.missing, told) if s)
    return run.done(summary, data={"then": then, "query": decision.query, "learnt": decision.learnt}, **update)


def after_reason(state: State) -> list[str] | str:
    """Continue as `reason` decided: another hop asks route and expand again, side by side."""
    return ["route", "expand"] if state["then"] == "more" else state["then"]


def repeated(query: str, asked: list[str]) -> bool:
    """Tell whether a query has the same content words as one that was asked before."""
    key = sorted(content_terms(query))
    return bool(query) and any(sorted(content_terms(a)) == key for a in asked)


def _taken(state: State) -> list[Strip]:
    """Take the hop's items whole as knowledge, in a graph that does not refine them."""
    rows = {e["id"]: e for e in state.get("evidence", [])}
    return [as_strip(rows[i]) for i in state.get("candidates", []) if i in rows]


def _row(state: State, decision: Decision, run: Run) -> Hop:
    grade = state.get("grade")
    task = next(iter(state.get("tasks", [])), None)
    return {
        "n": state["hop"],
        "query": task["queries"][0] if task else state["query"],
        "corpora": [t["corpus"] for t in state.get("tasks", [])],
        "evidence": state.get("candidates", []),
        "action": grade["action"] if grade else "",
        "learnt": decision.learnt,
        "missing": decision.missing,
        "next": decision.query,
        "by": run.by,
    }


async def _open(question: str) -> Decision:
    return Decision("", "", question)


async def _by_model(model: Chat, run: Run, state: State, strips: list[Strip], asked: list[str]) -> Decision | None:
    findings = "\n\n".join(f"{s['title']} ({s['origin']})\n{quote(clip(s['text'], 900))}" for s in strips)
    messages = load(
        "reason",
        question=state["question"],
        asked="\n".join(f"- {q}" for q in dict.fromkeys(asked)) or "(none)",
        findings=findings or "(nothing yet)",
    )
    turn = await model.json(messages, Turn, node=run.node, meter=run.meter)
    if not isinstance(turn, Turn):
        return None
    query = "" if turn.enough else clip(turn.query.strip(), 500)
    return Decision(clip(turn.learnt.strip(), 500), clip(turn.missing.strip(), 500), query)


async def _by_rule(run: Run, state: State, strips: list[Strip], asked: list[str]) -> Decision:
    """Ask on only for something named: a name that a kept strip holds and no query has held yet.

    The question is taken as answered where one strip, read with its title, covers nearly all of it. Otherwise the
    name that stands in the best covered sentence is asked for, together with the words that are still uncovered.
    """
    learnt = _learnt(strips, state["hop"])
    own = [s for s in strips if s["origin"] != "model"]
    if not own:
        return Decision(learnt, "nothing that bears on the question was found", "")
    question = state["question"]
    wanted = content_terms(question)
    idf = await (await run.library()).idf(wanted)
    share = {s["id"]: _coverage(wanted, f"{s['title']} {s['text']}", idf) for s in own}
    best = max(own, key=lambda s: (share[s["id"]], s["score"], s["id"]))
    have = set(terms(f"{best['title']} {best['text']}"))
    open_words = [w for w in question.split() if (t := content_terms(w)) and not set(t) & have]
    if share[best["id"]] >= COVERED or not open_words:
        return Decision(learnt, "", "")
    bridge = _bridge(own, asked, wanted, idf)
    missing = "not yet covered: " + ", ".join(w.strip("?,.!;:？") for w in open_words[:6])
    if not bridge:
        return Decision(learnt, missing, "")
    tail = " ".join(w.strip("?,.!;:？\"'") for w in open_words)
    return Decision(learnt, missing, f"{bridge} {tail}".strip())


def _coverage(wanted: list[str], text: str, idf: dict[str, float]) -> float:
    have = set(terms(text))
    total = sum(idf.get(t, 1.0) for t in wanted)
    return sum(idf.get(t, 1.0) for t in wanted if t in have) / total if total else 0.0


def _bridge(strips: list[Strip], asked: list[str], wanted: list[str], idf: dict[str, float]) -> str:
    """Return the unasked name in the sentence that covers the question best; of equals the one named first."""
    said = fold(" ".join(asked))
    best, found = 0.0, ""
    for strip in strips:
        for a, b in sentences(strip["text"]):
            sentence = strip["text"][a:b]
            worth = _coverage(wanted, f"{strip['title']} {sentence}", idf) * (1 + max(strip["score"], -0.9))
            fresh = [n for n in names(sentence) if fold(n) not in said and len(n) > 2]
            if fresh and worth > best:
                best, found = worth, fresh[0]
    return found


def _learnt(strips: list[Strip], hop: int) -> str:
    new = [s for s in strips if s["hop"] == hop]
    if not new:
        return "nothing new was learnt" if hop > 1 else ""
    best = max(new, key=lambda s: (s["score"], s["id"]))
    first = sentences(best["text"])[0] if best["text"].strip() else (0, 0)
    return f"{best['title']}: {clip(best['text'][slice(*first)], 160)}"
