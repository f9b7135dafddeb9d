"""How much of what the agent found its reasoning model is shown: `python benchmarks/shown.py [--each 4]`.

The questions are those of `against_plain_rag.py`. A played model ends every run at its first turn; what that turn was
shown is compared with the items as they are stored. An item is cut where less of it is shown than is stored. A cut
costs an answer where a gold answer stands in an item that was shown, and in nothing of what was shown of any.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from against_plain_rag import index_all, questions
from printed import options, own_home, tell


async def measured(each: int, show: bool, knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was shown of how many items, by set of questions."""
    from ragweave import Context
    from ragweave.app.api import astate
    from ragweave.components.llm.conversation import shown
    from ragweave.corpora.store.library import open_library
    from ragweave.models.chat import override
    from ragweave.tests.support import ScriptedChat

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    shares: dict[str, list[float]] = defaultdict(list)
    with override(writer=ScriptedChat(react=lambda _: "Final Answer: It is told there [1].")):
        for q in questions(each):
            context = Context(library=q["set"], mode="llm", check_by="off", **knobs)
            state: Any = await astate(" ".join([*q["previous"], q["question"]]), context=context)
            texts: dict[str, str] = defaultdict(str)
            for strip in state.get("knowledge", []):
                texts[strip["evidence"]] += strip["text"] + "\n"
            told = shown(state["hops"][:1], texts, context.method.turn_passages)
            ids = told[0] if told else []
            items = await (await open_library(q["set"])).items(ids)
            count = counts[q["set"]]
            count["questions"] += 1
            before = len(shares[q["set"]])
            for i, item in items.items():
                part = min(1.0, len(texts[i].strip()) / max(1, len(item.text.strip())))
                count[f"{item.corpus} items"] += 1
                if part < 1:
                    count[f"{item.corpus} items cut"] += 1
                    shares[q["set"]].append(part)
            count["questions with a cut item"] += len(shares[q["set"]]) > before
            whole, read = (" ".join(" ".join(t).casefold().split()) for t in (
                [i.text for i in items.values()], [texts[i] for i in ids]
            ))  # fmt: skip
            gold = [str(a).casefold() for a in q.get("answers", [])]
            count["answer stands in a shown item"] += any(a in whole for a in gold)
            lost = any(a in whole for a in gold) and not any(a in read for a in gold)
            if lost and show:
                print(q["id"], q["question"])
            count["answer cut away"] += lost
    out: dict[str, Any] = {}
    for name, count in counts.items():
        out |= {f"{name}: {what}": n for what, n in sorted(count.items())}
        if shares[name]:
            out[f"{name}: share shown of a cut item"] = float(median(shares[name]))
    return out


def main() -> None:
    """Read the command line."""
    parser = options(__doc__)
    parser.add_argument("--each", type=int, default=4, help="questions of each kind of house_dev")
    parser.add_argument("--work", type=Path, help="keep the libraries here for the next run")
    parser.add_argument("--show", action="store_true", help="print the questions that lose their answer")
    parser.add_argument("--corpora", default="", help="only these, separated by commas")
    given = parser.parse_args()
    os.environ["RAGWEAVE_CHAT_CACHE"] = "false"
    with own_home(given.work) as folder:
        index_all(folder)
        knobs = {"corpora": tuple(given.corpora.split(","))} if given.corpora else {}
        tell(asyncio.run(measured(given.each, given.show, knobs)), given.json)


if __name__ == "__main__":
    main()
