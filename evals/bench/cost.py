"""Estimate the calls and input tokens that a table needs at most, before it runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ragweave.components.context import Context
from ragweave.components.evidence import TEXT_LIMIT
from ragweave.components.look import CLIPS, MOST
from ragweave.evals.bench.judged import BASELINE, OURS
from ragweave.evals.bench.run import BenchSet, graph_of
from ragweave.evals.bench.tables import Arm, Table
from ragweave.models.chat import chat
from ragweave.models.chat_reply import IMAGE_TOKENS, tokens_of
from ragweave.models.settings import model_settings
from ragweave.nodes.merge import CLIPS as POOL

PROMPT = 800
"""Tokens of an instruction with its form and its few-shot examples; the longest that ships has 310."""
PASSAGE = TEXT_LIMIT // 4 + 100
"""Tokens of a passage in Latin script, with its number, its title and its place."""
GRADED, GRADED_MOST = 400, 40
"""Tokens of a passage that is graded, and how many are graded in one call."""
SAID = 700
"""Tokens of a turn of a conversation: what was learnt, what is missing, three queries."""
KNOWN = 500
"""Tokens of what is known of a clip or picture that is looked at."""
ANSWER = 4_096
"""Tokens of an answer that is judged, unless RAGWEAVE_CHAT_TOKENS allows other replies."""
HEADED = 2
"""How much longer chunks are as they are read, each clip of them under its title."""


@dataclass(frozen=True)
class Taken:
    """Calls of a chat model, and the tokens that go into them."""

    calls: int = 0
    tokens: int = 0

    def __add__(self, more: Taken) -> Taken:
        return Taken(self.calls + more.calls, self.tokens + more.tokens)


def most(arm: Arm, asked: BenchSet, context: Context, together: Sequence[BenchSet] = ()) -> Taken:
    """Return what an arm takes of all questions of a set at most.

    Tokens are counted as servers without a count of their own are: four bytes each. A second try of a call
    that failed, or whose reply could not be read, is not counted. `together` are the sets of one library with
    this one.
    """
    held = [asked, *together]
    filmed = _has_files(held) and context.look == "auto" and chat("vision") is not None
    size = PROMPT + _longest([asked])
    sizes = _calls(graph_of(arm, context), context, size, filmed, _has_documents(held))
    sizes.sort(reverse=True)
    taken = sizes[: context.max_model_calls]
    tokens = sum(taken)
    if context.max_tokens:
        tokens = min(tokens, context.max_tokens)
    questions = len(asked.bundle.questions)
    return Taken(questions * len(taken), questions * tokens)


def _has_files(sets: Sequence[BenchSet]) -> bool:
    """Return whether a set has recordings or pictures."""
    for bench_set in sets:
        if bench_set.bundle.files:
            return True
    return False


def _has_documents(sets: Sequence[BenchSet]) -> bool:
    """Return whether a set has whole documents."""
    for bench_set in sets:
        if bench_set.set.corpus == "document":
            return True
        for row in bench_set.bundle.rows:
            if row.get("kind") == "document":
                return True
    return False


def _longest(sets: Sequence[BenchSet]) -> int:
    """Return the tokens of the longest question."""
    longest = 0
    for bench_set in sets:
        for question in bench_set.bundle.questions:
            longest = max(longest, tokens_of(question.text))
    return longest


def judging(table: Table, ran: Collection[str], asked: Sequence[BenchSet], others: bool, times: int) -> Taken:
    """Return what the judge of a table takes at most; with `others` it judges other systems as well."""
    if not table.judge or OURS not in ran:
        return Taken()
    against = OURS if table.judge == "pairs" else BASELINE
    systems = set(ran)
    if others:
        systems.update(table.answers)
    systems.discard(against)
    each = len(systems) * times
    if table.judge == "pairs":
        each *= 2
    calls = 0
    for bench_set in asked:
        calls += len(bench_set.bundle.questions) * each
    size = PROMPT + _longest(asked) + 2 * (model_settings().chat_tokens or ANSWER)
    return Taken(calls, calls * size)


def _calls(graph: str, context: Context, asked: int, filmed: bool, documents: bool) -> list[int]:
    """Return the tokens of each call for one question; `asked` counts an instruction and the question."""
    method = context.method
    shown = max(context.shown, method.strips) * PASSAGE + method.turn_tokens * documents
    frames = (method.look_frames + MOST) * IMAGE_TOKENS * filmed
    calls = [asked + shown + frames]
    if filmed:  # pictures, and clips whose frames only the one who looks can see
        calls += MOST * [asked + KNOWN + IMAGE_TOKENS, asked + KNOWN + method.look_frames * IMAGE_TOKENS]
    if context.check_by != "off":
        calls.append(asked + shown)
    match graph:
        case "universal_rag":
            calls += [asked] * (context.route_by in ("llm", "ensemble"))
        case "rag_fusion":
            calls += [asked]
        case "crag":
            graded = asked + GRADED * min(GRADED_MOST, context.kept)
            refined = [asked + GRADED * GRADED_MOST] * (1 + (context.web != "off"))
            calls += [graded, *refined] * (context.grade_by == "llm") + [asked] * (context.web != "off")
        case "auto_rag":
            calls += _turns(context, asked, frames)
        case "video_rag":
            calls[0] += HEADED * method.chunk_tokens
            calls += [asked]
            each = method.form == "video-rag"
            judged = [asked + PASSAGE] * POOL if each else [asked + GRADED * POOL]
            calls += judged * (context.grade_by == "llm")
            if filmed:
                calls += min(POOL, CLIPS) * [asked + KNOWN + method.look_frames * IMAGE_TOKENS]
        case _:
            calls += [asked + shown + method.turn_tokens] * (context.max_model_calls - len(calls))
    return calls


def _turns(context: Context, asked: int, frames: int) -> list[int]:
    """Return the tokens of the turns of Auto-RAG.

    Each turn has the rounds before it, and is asked for a second time if it repeats a query.
    """
    method = context.method
    calls = []
    for n in range(1 + context.max_hops + method.recalls):
        rounds = n * (SAID + method.turn_passages * PASSAGE)
        size = asked + min(method.turn_tokens, rounds) + frames
        calls += [size, size + SAID]
    return calls + [asked] * method.recalls
