"""Control sentences: one false and one true, made by rule from the passages of a call or taken from a written stock.

A checker that was reading calls the false one contradicted and the true one supported. One that copies,
guesses or skips does not, and its verdicts on the answer count for nothing.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ragweave.components.plain_sentences import (
    PlainSentence,
    is_name,
    opening_name,
    opens_well,
    parts,
    statements,
)
from ragweave.components.verdicts import ShownPassage, Verdict
from ragweave.models import text
from ragweave.models.doubt import is_bound

_NUMBER = re.compile(r"(?<![\w.,:/-])[1-9]\d*(?:[.,]\d+)*(?![\w:/-])(?!\.\s?\d)")
_VERB = re.compile(r"\b(?:is|are|was|were)\b")
_GAP = re.compile(r"\s*(?:\.\.\.|…)\s*")


class Control(NamedTuple):
    """A sentence of known truth.

    Attributes:
        text: the sentence.
        true: whether its passage says it.
        kind: copied, value, name or denied; of the stock what is false in its pair.
        passage: number of the passage that it is made from, from 1; 0 if it brings its own.
        brings: the passage of a control of the stock.
    """

    text: str
    true: bool
    kind: str
    passage: int
    brings: ShownPassage | None = None


class Laid(NamedTuple):
    """An answer with its controls, as it is judged in one call.

    Attributes:
        passages: those of the call, and behind them what controls bring.
        sentences: those of the answer in their order, the controls among them.
        cited: for each sentence the numbers of the passages that it names.
        own: numbers of the answer's sentences, in their order.
        controls: the controls by number.
    """

    passages: list[ShownPassage]
    sentences: list[str]
    cited: list[list[int]]
    own: list[int]
    controls: dict[int, Control]

    def held(self, rows: dict[int, list[Verdict]]) -> bool:
        """Tell whether the verdicts on all controls are right."""
        return all(held(control, rows.get(n, []), self.passages) for n, control in self.controls.items())


def seed_of(question: str, answer: Sequence[str], attempt: int = 0) -> int:
    """Return what the choice of controls and their places rest on: the same for the same answer and attempt."""
    written = json.dumps([question, *answer, attempt], ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(written.encode("utf-8", "replace")).digest()[:8], "big")


def lay(
    question: str,
    passages: Sequence[ShownPassage],
    answer: Sequence[str],
    cited: Sequence[Sequence[int]],
    attempt: int = 0,
    used: Collection[str] = (),
) -> Laid:
    """Put one false and one true control among the sentences of an answer.

    They come where the sentence behind them does not lean on the one before: its pronoun would mean something
    else.

    Args:
        question: what was asked.
        passages: what the call shows.
        answer: its sentences.
        cited: for each the numbers of the passages that it names.
        attempt: 0, or 1 for fresh controls after the first ones failed.
        used: texts of controls that are not taken again.
    """
    seed = seed_of(question, answer, attempt)
    pair = controls(question, passages, answer, seed, used)
    held_by = list(passages)
    numbers = [_number(control, held_by) for control in pair]
    draw = random.Random(seed)
    gaps = [n for n, said in enumerate(answer) if opens_well(said, passages)] + [len(answer)]
    places = [draw.choice(gaps) for _ in pair]
    order = draw.sample(range(len(pair)), len(pair))
    laid = Laid(held_by, [], [], [], {})
    for n in range(len(answer) + 1):
        for i in (i for i in order if places[i] == n):
            laid.sentences.append(pair[i].text)
            laid.cited.append([numbers[i]])
            laid.controls[len(laid.sentences)] = pair[i]
        if n < len(answer):
            laid.sentences.append(answer[n])
            laid.cited.append(list(cited[n]) if n < len(cited) else [])
            laid.own.append(len(laid.sentences))
    return laid


def _number(control: Control, passages: list[ShownPassage]) -> int:
    """Return the number of a control's passage, which is added if the control brings it."""
    if control.brings is None:
        return control.passage
    if control.brings not in passages:
        passages.append(control.brings)
    return passages.index(control.brings) + 1


def controls(
    question: str,
    passages: Sequence[ShownPassage],
    answer: Sequence[str],
    seed: int,
    used: Collection[str] = (),
) -> tuple[Control, Control]:
    """Return a false and a true control.

    A false one changes a value or a meaning, in turn by the seed. What the passages cannot give comes from
    the stock.
    """
    draw = random.Random(seed)
    said = {_plain_of(s) for s in (question, *answer, *used)}
    pool = [s for s in statements(passages) if _plain_of(s.text) not in said]
    draw.shuffle(pool)
    values_first = seed % 2 == 0
    false, origin = _false(pool, passages, values_first, draw, said)
    copied = next((s for s in pool if s.text != origin), None)
    stock = [row for row in _stock() if row["false"] not in used and row["true"] not in used] or list(
        _stock()
    )
    row = draw.choice(stock)
    brings = ShownPassage(row["title"], row["text"])
    if false is None:
        false = Control(row["false"], False, row["kind"], 0, brings)
    if copied is None:
        return false, Control(row["true"], True, row["kind"], 0, brings)
    return false, Control(copied.text, True, "copied", copied.passage)


def held(control: Control, rows: Sequence[Verdict], passages: Sequence[ShownPassage]) -> bool:
    """Tell whether the verdict on a control is right.

    The false one is contradicted or disputed, with words that stand in a passage; the true one supported or
    follows.
    """
    said = {row.verdict for row in rows}
    if control.true:
        return bool(said) and said <= {"supported", "follows"}
    if not said or not said <= {"contradicted", "disputed"}:
        return False
    return any(stand(words, passages) for row in rows for words in (row.words, row.says))


def _false(
    pool: Iterable[PlainSentence],
    passages: Sequence[ShownPassage],
    values_first: bool,
    draw: random.Random,
    said: Collection[str],
) -> tuple[Control | None, str]:
    """Return a false control and the sentence that it is made of; None and "" if no sentence gives one."""
    pool = list(pool)
    makes = (_value, _denied, _renamed) if values_first else (_denied, _renamed)
    for make in makes:
        for s in pool:
            made = make(s, passages, draw)
            if made is not None and _plain_of(made.text) not in said and not stand(made.text, passages):
                return made, s.text
    return None, ""


def _value(s: PlainSentence, passages: Sequence[ShownPassage], draw: random.Random) -> Control | None:
    """Put another number in the place of one, of the same passage if one has its form."""
    named = " ".join(text.names(s.text)).split()
    places = [
        m for m in _NUMBER.finditer(s.text) if m.group() not in named and not is_bound(s.text[: m.start()])
    ]
    if not places:
        return None
    m = draw.choice(places)
    form = re.sub(r"\d", "0", m.group())
    near = [o.group() for o in _NUMBER.finditer(passages[s.passage - 1].text) if o.group() not in s.text]
    alike = sorted({o for o in near if re.sub(r"\d", "0", o) == form})
    other = draw.choice(alike) if alike else _another(m.group(), draw)
    return Control(f"{s.text[: m.start()]}{other}{s.text[m.end() :]}", False, "value", s.passage)


def _another(number: str, draw: random.Random) -> str:
    """Return a number of the same form: a year near by, a small one as a day may be, else at least 1.5 times."""
    whole = re.match(r"\d+", number)
    assert whole is not None
    value = int(whole.group())
    if 1000 <= value <= 2100:
        new = value + draw.choice((-1, 1)) * draw.randint(3, 19)
    elif value <= 28:
        new = draw.choice([n for n in range(2, 29) if abs(n - value) > 1])
    else:
        new = value + draw.randint(value // 2, value)
    return f"{new}{number[whole.end() :]}"


def _denied(s: PlainSentence, passages: Sequence[ShownPassage], draw: random.Random) -> Control | None:
    """Deny what an English sentence says."""
    verbs = list(_VERB.finditer(s.text))
    if len(verbs) != 1 or not _is_english(s.text):
        return None
    end = verbs[0].end()
    return Control(f"{s.text[:end]} not{s.text[end:]}", False, "denied", s.passage)


def _renamed(s: PlainSentence, passages: Sequence[ShownPassage], draw: random.Random) -> Control | None:
    """Say of somebody else of the passages what is said of the one who opens a sentence that has a number."""
    name = opening_name(s.text)
    if not name or not _NUMBER.search(s.text):
        return None
    rest = s.terms - set(text.content_terms(name))
    others = sorted(
        {n for shown in passages for n in text.names(shown.text) if _can_replace(n, name, s, passages)}
    )
    free = [n for n in others if not any(_says_of(n, rest, part) for p in passages for part in parts(p.text))]
    if not free:
        return None
    return Control(f"{draw.choice(free)}{s.text[len(name) :]}", False, "name", s.passage)


def _can_replace(other: str, name: str, s: PlainSentence, passages: Sequence[ShownPassage]) -> bool:
    """Tell whether a name is of as many words as another one, and of none that the sentence has."""
    apart = s.terms.isdisjoint(text.content_terms(other))
    return (
        " " in name
        and is_name(other, passages)
        and other.count(" ") == name.count(" ")
        and apart
        and not re.search(r"\d", other)
    )


def _says_of(name: str, rest: frozenset[str], part: str) -> bool:
    """Tell whether a sentence names somebody and says something near to the rest of another sentence."""
    return name in part and 2 * len(rest & set(text.content_terms(part))) >= len(rest)


def _is_english(said: str) -> bool:
    words = text.words(said)
    return 4 * sum(word in text.STOP for word in words) >= len(words)


def stand(words: str, passages: Sequence[ShownPassage]) -> bool:
    """Tell whether words stand in a passage, in their order; “...” stands for what is left out between them."""
    pieces = [_plain_of(piece) for piece in _GAP.split(words) if piece.strip()]
    return bool(pieces) and any(_in_order(pieces, _plain_of(shown.text)) for shown in passages)


def _in_order(pieces: Sequence[str], written: str) -> bool:
    at = 0
    for piece in pieces:
        found = written.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _plain_of(said: str) -> str:
    return " ".join(said.split()).casefold()


@cache
def _stock() -> tuple[dict[str, str], ...]:
    """Return the written pairs, each with its passage."""
    written = files("ragweave.components").joinpath("data", "controls.json").read_text(encoding="utf-8")
    return tuple(json.loads(written))
