r"""How often the check keeps a right sentence, and how often it marks a wrong one.

    python benchmarks/check_rates.py [-v] [--half 0|1]      the small check, and what a kept second opinion says
    RAGWEAVE_CHAT=openai:NAME RAGWEAVE_CHAT_URL=... RAGWEAVE_CHAT_KEY=KEY \\
      python benchmarks/check_rates.py --ask 60       ask for it: 60 right and 60 wrong answers, all doubted right ones

300 right sentences by a fixed rule, each with its evidence: ours in other words and other languages over XQuAD
(check_sentences.jsonl), the answers in records/ that the judge calls right, and questions of XQuAD turned into
statements. 300 wrong ones are made of them, sixty of a kind: another number, another date, another name, a negation, or
the value that the same passage gives to something else. The product's own page decides: what a sentence names is read
first, then all that the model was shown. A second opinion is asked for all sentences of an answer that do not stand in
the evidence word for word, together.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from against_plain_rag import DATA, drawn, questions, read, verdicts
from printed import own_home
from wrong_sentences import WRONG, Said, wrong_ones

from ragweave.components.answer_builder import COPIED, AnswerBuilder, Claim
from ragweave.components.evidence import Strip, Support
from ragweave.components.knowledge import CheckResult
from ragweave.components.local.check import support
from ragweave.components.passages import headed
from ragweave.models import text
from ragweave.models.relevance import Passage

HERE = Path(__file__).parent
COUNT = 300
KEPT = HERE / "records" / "check.json"
"""What a second opinion said, by the digest of a sentence."""


def key(s: Said) -> str:
    """Return the key of a sentence among the kept opinions."""
    return hashlib.sha256(f"{answer_of(s)} | {s.text}".encode()).hexdigest()[:12]


def answer_of(s: Said) -> str:
    """Return what tells the answer that a sentence is of."""
    return s.id.rsplit(":", 1)[0]


def strip(name: str, title: str, words: str) -> Strip:
    """Return a strip that is a whole passage."""
    place: Any = {"file": name}
    return Strip(
        id=name, evidence=name, text=words, title=title, locator=place, origin="library", query="", hop=1, score=1.0
    )


def of_xquad() -> list[Said]:
    """Return our own sentences and the questions that turn into statements, with the passages of their article."""
    folder = DATA / "squad_xquad_en"
    strips = {p["id"]: strip(p["id"], p["title"], p["text"]) for p in read(folder / "passages.jsonl")}
    asked = {q["id"]: q for q in read(folder / "queries.jsonl")}
    beside: dict[str, list[str]] = defaultdict(list)
    for q in asked.values():
        beside[q["gold"][0]].append(q["answers"][0])

    def said(i: str, kind: str, words: str) -> Said:
        q = asked[i]
        gold = strips[q["gold"][0]]
        known = tuple(s for s in strips.values() if s["title"] == gold["title"])
        answer = q["answers"][0]
        others = [o for o in beside[gold["id"]] if not set(text.terms(o)) & set(text.terms(answer))]
        return Said(i, kind, words, q["question"], (gold,), known, answer, tuple(dict.fromkeys(others)))

    ours = [
        said(r["id"], "other language" if "lang" in r else "other words", r["text"])
        for r in read(HERE / "check_sentences.jsonl")
    ]
    taken = {s.id for s in ours}
    stated = [(q["id"], statement(q)) for q in drawn([q for i, q in asked.items() if i not in taken], 10_000)]
    return ours + [said(i, "statement", words) for i, words in stated if words]


def statement(q: dict[str, Any]) -> str:
    """Turn a question into a statement by its answer, where that needs no more than an exchange of words."""
    answer, asked = q["answers"][0], q["question"].strip().rstrip("? ")
    first = answer[0].upper() + answer[1:]
    if m := re.fullmatch(r"Who (?!(?:did|do|does|is|was|were|are) )(.+)", asked):
        return f"{first} {m[1]}."
    if m := re.fullmatch(r"(?:Who|What) (is|was|were|are) ((?:the|a|an) .+)", asked):
        return f"{m[2][0].upper()}{m[2][1:]} {m[1]} {answer}."
    if m := re.fullmatch(r"How many (\w+) (did|do|does) (.+)", asked):
        return f"{m[3][0].upper()}{m[3][1:]} {answer} {m[1]}." if m[2] == "do" else ""
    if m := re.fullmatch(r"(?:What|Which) (?:\w+) ((?:was|were|became|won|led|made|is) .+)", asked):
        return f"{first} {m[1]}."
    return ""


async def of_records() -> list[Said]:
    """Return the sentences of recorded answers that the judge calls right, with the passages of what they cite."""
    from ragweave import Context
    from ragweave.app.api import aindex, asearch

    corpus = {f"{n:06d}.md": p for n, p in enumerate(read(DATA / "multihop_hotpotqa" / "corpus.jsonl"))}
    with own_home():
        await aindex([DATA / "house_dev" / "library"], "house")
        found = {}
        for q in questions():
            if q["set"] == "house":
                context = Context(library="house", mode="extractive", top_k=50)
                found[q["id"]] = await asearch(" ".join([*q["previous"], q["question"]]), context=context)
    out = []
    for arm in ("agent", "plain"):
        rows = {r["id"]: r for r in read(HERE / "records" / f"{arm}.jsonl")}
        right = {i for i, v in verdicts(rows).items() if v == "right"}
        for q in questions():
            row = rows[q["id"]]
            if q["id"] not in right or row["abstained"] or not row["cited"]:
                continue
            if q["set"] == "hops":
                named = [strip(f, corpus[f]["title"], corpus[f]["text"]) for f in row["cited"]]
                known = [strip(f, corpus[f]["title"], corpus[f]["text"]) for f in row["read"]]
            else:
                all_of = [
                    (r["locator"].get("file", ""), strip(str(n), headed(r["title"], r), r["text"]))
                    for n, r in enumerate(found[q["id"]])
                ]
                named = [s for f, s in all_of if any(f.endswith(c) for c in row["cited"])][: 2 * len(row["cited"])]
                known = [s for n, (f, s) in enumerate(all_of) if n < 8 or any(f.endswith(r) for r in row["read"])]
            if not named:
                continue
            plain = re.sub(r"\s*(?:\[\d+\]|\(unverified\))", "", row["answer"])
            for n, (a, b) in enumerate(text.sentences(plain)):
                kind = "recorded, several files" if len(row["cited"]) > 1 else "recorded"
                known = [*named, *(s for s in known if s not in named)]
                out.append(Said(f"{arm}:{q['id']}:{n}", kind, plain[a:b], q["question"], tuple(named), tuple(known)))
    return out


def right_ones(xquad: Sequence[Said], recorded: Sequence[Said]) -> list[Said]:
    """Return 300: ours, those of records, and statements by the order of their digests."""
    first = [s for s in xquad if s.kind != "statement"]
    return [*first, *recorded, *(s for s in xquad if s.kind == "statement")][:COUNT]


async def checked(s: Said) -> Claim:
    """Return what the product's page makes of a sentence before anybody gives a second opinion."""
    claims: list[Claim] = []

    async def judge(sentence: str, strips: Sequence[Strip]) -> CheckResult:
        return await asyncio.to_thread(support, sentence, [Passage(p["title"], p["text"]) for p in strips], s.question)

    async def doubted(waiting: Sequence[Claim]) -> list[Support]:
        claims.extend(waiting)
        return ["unverified"] * len(waiting)

    page = AnswerBuilder(judge, lambda *_: None, {}, {}, second=doubted, every=True)
    await page.tell(s.text, s.named, s.known)
    await page.close()
    return claims[0] if claims else Claim(s.text, "verified", s.named, 1.0)


async def ask(said: Sequence[Said], claims: Sequence[Claim], most: int) -> None:
    """Ask for an opinion on `most` right answers, all others that are doubted, and `most` wrong ones, and keep it."""
    from ragweave import Context
    from ragweave.components.llm.check import check
    from ragweave.components.run_context import RunContext, TurnState
    from ragweave.models.meter import Meter

    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    answers: dict[tuple[str, str], list[tuple[Said, Claim]]] = defaultdict(list)
    for s, c in zip(said, claims, strict=True):
        if c.score < COPIED:
            answers[(s.kind if s.kind in WRONG else "right", answer_of(s))].append((s, c))
    order = sorted(answers, key=lambda k: hashlib.sha256("".join(k).encode()).hexdigest())
    right, wrong = ([k for k in order if (k[0] == "right") == want] for want in (True, False))
    doubted = [k for k in right[most:] if any(c.support != "verified" for _, c in answers[k])]
    chosen = [*right[:most], *doubted, *wrong[:most]]
    context = Context(mode="llm")

    async def one(of: list[tuple[Said, Claim]]) -> None:
        opinions = await check(RunContext("check", context, TurnState(Meter())), of[0][0].question, [c for _, c in of])
        for (s, _), o in zip(of, opinions or ["unverified"] * len(of), strict=True):
            kept[key(s)] = o

    await asyncio.gather(*(one(answers[k]) for k in chosen if not all(key(s) in kept for s, _ in answers[k])))
    KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=0) + "\n", encoding="utf-8")


def report(said: Sequence[Said], claims: Sequence[Claim], half: int | None, verbose: bool) -> None:
    """Print the rates, by kind."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    rows = [(s, c, kept.get(key(s))) for s, c in zip(said, claims, strict=True)]
    rows = [r for r in rows if half is None or r[0].half == half]
    for title, want in (("right sentences, kept", False), ("wrong sentences, marked", True)):
        of = [r for r in rows if (r[0].kind in WRONG) == want]
        print(f"{title:26} small alone      asked where it doubts      asked about all that is not copied")
        for kind in [*dict.fromkeys(s.kind for s, _, _ in of), "all"]:
            some = [r for r in of if kind in (r[0].kind, "all")]
            told = {how: asked_about(some, how, want) for how in ("doubted", "all")}
            alone = sum((c.support != "verified") == want for _, c, _ in some)
            cells = [f"{good:4} of {count:3}" for good, count, _ in told.values()]
            rates = [f"{rate:.3f}" for *_, rate in told.values()]
            by = "     ".join(f"{cell} asked: {rate}" for cell, rate in zip(cells, rates, strict=True))
            print(f"  {kind:24} {alone:4} of {len(some):3}   {by}")
    if verbose:
        for s, c, o in rows:
            if (c.support == "verified") == (s.kind in WRONG):
                print(f"{s.kind} | {s.id} | {c.score:.2f} | {o or ''} | {s.text}")


def asked_about(some: Sequence[tuple[Said, Claim, str | None]], how: str, want: bool) -> tuple[int, int, float]:
    """Return how many opinions were right, of how many, and the rate of all sentences where that is asked for.

    The rate takes those that were not asked about to be judged as those that were.
    """
    put = [r for r in some if (r[1].support != "verified" if how == "doubted" else r[1].score < COPIED)]
    left = sum((c.support != "verified") == want for r in some if r not in put for c in [r[1]])
    # As the page does: who cannot tell takes nothing back.
    asked = [c.support if o == "unverified" else o for _, c, o in put if o is not None]
    good = sum((o != "verified") == want for o in asked)
    return good, len(asked), (left + (good / len(asked) if asked else 0.0) * len(put)) / (len(some) or 1)


async def run(given: argparse.Namespace) -> None:
    """Build both lists, check them, ask where that is wanted, and report."""
    right = right_ones(of_xquad(), await of_records())
    said = [*right, *wrong_ones(right)]
    claims = [await checked(s) for s in said]
    if given.ask:
        await ask(said, claims, given.ask)
    report(said, claims, given.half, given.verbose)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ask", type=int, default=0)
    parser.add_argument("--half", type=int, choices=[0, 1])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    os.environ |= {"RAGWEAVE_CHAT_CACHE": "false", "RAGWEAVE_CHAT_WIDTH": "200", "RAGWEAVE_CHAT_TIMEOUT": "7200"}
    asyncio.run(run(given))
