"""An answer is told sentence by sentence while its turn arrives."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from ragweave.minds.llm import turn as turns
from ragweave.minds.llm.turn import Answering

TURN = "Learnt: x [1].\n**Final Answer:** It was Dr. Rao [1]. She paid 3.5 million [2][3].\nSo be it"


async def told(parts: Sequence[str], most: int = 6, ended: bool = True) -> list[str]:
    out: list[str] = []

    async def tell(sentence: str, shown: Sequence[str]) -> None:
        assert shown == ["a", "b"]
        out.append(sentence)

    answering, text = Answering(tell, ["a", "b"], most), ""
    for part in parts:
        text += part
        if not await answering.read(text):
            break
    if ended:
        await answering.read(text, ended=True)
    return out


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_sentences_do_not_depend_on_how_the_turn_is_cut(size: int) -> None:
    parts = [TURN[i : i + size] for i in range(0, len(TURN), size)]
    assert await told(parts) == ["It was Dr. Rao [1].", "She paid 3.5 million [2][3].", "\nSo be it"]


async def test_a_sentence_is_told_before_the_turn_has_ended() -> None:
    assert await told([TURN[:60]], ended=False) == ["It was Dr. Rao [1]."]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("Learnt: x [1]. Missing: y.\nQuery: who [2]? Was it?", []),
        ("Final Answer: UNKNOWN. No document says where.", []),
        ("Final Answer: It was Rao [1].\nQuery: more of it", ["It was Rao [1]."]),
        ("Query: rao\nFinal Answer: It was Rao [1].", ["It was Rao [1]."]),
        ('Final Answer: "It was Rao [1]."', ["It was Rao [1]."]),
        ("Final Answer: Two are missing: Rao and Pell [1].", ["Two are missing: Rao and Pell [1]."]),
        ('{"answer": "It was Rao [1]."}', []),
        ('{"learnt": "Final Answer: it says. So be it.", "query": "rao"}', []),
        ('It has {"query": "x"}.\nFinal Answer: It was Rao [1].', ["It was Rao [1]."]),
        ("Learnt: the set {a, b [1].\n**Final Answer:** It was Rao [1]. So be it.", ["It was Rao [1].", "So be it."]),
        ('{"learnt": "It says:\nFinal Answer: no. So be it.", "query": "rao"}', []),
        ('```json\n{"learnt": "It says:\nFinal Answer: no. So be it.", "query": "rao"}\n```', []),
        ("It was Rao [1].", []),
        ("最终答案：是拉奥。[1]那是真的。", ["是拉奥。[1]", "那是真的。"]),
    ],
)
async def test_only_an_answer_is_told_and_nothing_behind_it(turn: str, expected: list[str]) -> None:
    assert await told([*turn]) == expected


async def test_an_answer_without_end_is_left_after_so_many_sentences() -> None:
    assert len(await told(["Final Answer: ", *["It goes on. "] * 500], most=4)) == 4


@pytest.mark.parametrize("begin", ["", "Final Answer: "])
async def test_a_reply_that_repeats_a_label_is_judged_by_what_stands_near(
    begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []

    class Counted:
        def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
            judged.append((len(text) if end is None else end) - start)
            return begins.search(text, start, len(text) if end is None else end)

    begins = turns._BEGINS
    monkeypatch.setattr(turns, "_BEGINS", Counted())
    reply = begin + "it asks the query: a " * 100
    assert await told([reply]) == ([reply.removeprefix(begin).strip()] if begin else [])
    assert max(judged, default=0) <= 100
    assert len(judged) <= 2 * 100 * bool(begin)
