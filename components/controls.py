"""Make control sentences, one false and one true, from the passages of a call or from a fixed stock.

A checker that reads calls the false one contradicted and the true one supported. A checker that copies,
guesses or skips does not, and then its verdicts on the answer do not count.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Collection, Sequence
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
        kind: copied, value, name or denied; for the stock what is false in its pair.
        passage: number of the passage that it is made from, from 1; 0 for the stock.
        brings: the passage that a control of the stock adds to the call.
    """

    text: str
    true: bool
    kind: str
    passage: int
    brings: ShownPassage | None = None


class Laid(NamedTuple):
    """An answer with its controls, as one call judges it.

    Attributes:
        passages: passages of the call, followed by those that controls add.
        sentences: sentences of the answer in their order, with the controls among them.
        cited: for each sentence the numbers of the passages that it cites.
        own: numbers of the answer's sentences, in their order.
        controls: the controls by the number of their sentence.
    """

    passages: list[ShownPassage]
    sentences: list[str]
    cited: list[list[int]]
    own: list[int]
    controls: dict[int, Control]

    def held(self, rows: dict[int, list[Verdict]]) -> bool:
        """Return whether the verdicts on all controls are right."""
        for n, control in self.controls.items():
            if not held(control, rows.get(n, []), self.passages):
                return False
        return True


def seed_of(question: str, answer: Sequence[str], attempt: int = 0) -> int:
    """Return the random seed for the controls of an answer and an attempt."""
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
    """Insert one false and one true control among the sentences of an answer.

    Args:
        question: the question.
        passages: passages of the call.
        answer: sentences of the answer.
        cited: for each sentence the numbers of the passages that it cites.
        attempt: 0, or 1 for new controls after the first ones failed.
        used: texts of controls that are not used again.
    """
    seed = seed_of(question, answer, attempt)
    pair = controls(question, passages, answer, seed, used)
    shown = list(passages)
    numbers = [_number(control, shown) for control in pair]
    draw = random.Random(seed)
    gaps = _gaps(passages, answer)
    places = [draw.choice(gaps) for _ in pair]
    order = draw.sample(range(len(pair)), len(pair))
    laid = Laid(shown, [], [], [], {})
    for n in range(len(answer) + 1):
        for i in order:
            if places[i] == n:
                laid.sentences.append(pair[i].text)
                laid.cited.append([numbers[i]])
                laid.controls[len(laid.sentences)] = pair[i]
        if n < len(answer):
            laid.sentences.append(answer[n])
            laid.cited.append(list(cited[n]) if n < len(cited) else [])
            laid.own.append(len(laid.sentences))
    return laid


def _gaps(passages: Sequence[ShownPassage], answer: Sequence[str]) -> list[int]:
    """Return the positions in an answer at which a control may be inserted.

    None is before a sentence that refers to the one before it: its pronoun would get another meaning.
    """
    gaps = []
    for n, sentence in enumerate(answer):
        if opens_well(sentence, passages):
            gaps.append(n)
    return [*gaps, len(answer)]


def _number(control: Control, passages: list[ShownPassage]) -> int:
    """Return the number of a control's passage; add it to the passages if the control brings its own."""
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

    The seed decides whether the false one changes a value or a meaning. The stock supplies what the passages
    cannot give.
    """
    draw = random.Random(seed)
    known = set(map(_plain_of, (question, *answer, *used)))
    pool = [sentence for sentence in statements(passages) if _plain_of(sentence.text) not in known]
    draw.shuffle(pool)
    values_first = seed % 2 == 0
    false, origin = _false(pool, passages, values_first, draw, known)
    row = draw.choice(_unused_stock(used))
    brings = ShownPassage(row["title"], row["text"])
    if false is None:
        false = Control(row["false"], False, row["kind"], 0, brings)
    for sentence in pool:
        if sentence.text != origin:
            return false, Control(sentence.text, True, "copied", sentence.passage)
    return false, Control(row["true"], True, row["kind"], 0, brings)


def _unused_stock(used: Collection[str]) -> list[dict[str, str]]:
    """Return the pairs of the stock with no used sentence, or all of them if each has one."""
    unused = [row for row in _stock() if row["false"] not in used and row["true"] not in used]
    return unused or list(_stock())


def held(control: Control, rows: Sequence[Verdict], passages: Sequence[ShownPassage]) -> bool:
    """Return whether the verdicts on a control are right.

    The true one must be supported or follow. The false one must be contradicted or disputed, with words
    that a passage contains.
    """
    right = ("supported", "follows") if control.true else ("contradicted", "disputed")
    for row in rows:
        if row.verdict not in right:
            return False
    if control.true:
        return len(rows) > 0
    for row in rows:
        if stand(row.words, passages) or stand(row.says, passages):
            return True
    return False


def _false(
    pool: Sequence[PlainSentence],
    passages: Sequence[ShownPassage],
    values_first: bool,
    draw: random.Random,
    known: Collection[str],
) -> tuple[Control | None, str]:
    """Return a false control and the sentence it is made from, or None and "" if no sentence gives one."""
    makes = (_value, _denied, _renamed) if values_first else (_denied, _renamed)
    for make in makes:
        for sentence in pool:
            made = make(sentence, passages, draw)
            if made is None or _plain_of(made.text) in known:
                continue
            if not stand(made.text, passages):
                return made, sentence.text
    return None, ""


def _value(s: PlainSentence, passages: Sequence[ShownPassage], draw: random.Random) -> Control | None:
    """Replace a number by another one, if possible by one of the same form in the same passage."""
    named = " ".join(text.names(s.text)).split()
    places = []
    for match in _NUMBER.finditer(s.text):
        if match.group() not in named and not is_bound(s.text[: match.start()]):
            places.append(match)
    if not places:
        return None
    place = draw.choice(places)
    form = _form(place.group())
    alike = set()
    for match in _NUMBER.finditer(passages[s.passage - 1].text):
        if match.group() not in s.text and _form(match.group()) == form:
            alike.add(match.group())
    other = draw.choice(sorted(alike)) if alike else _another(place.group(), draw)
    return Control(f"{s.text[: place.start()]}{other}{s.text[place.end() :]}", False, "value", s.passage)


def _form(number: str) -> str:
    """Return a number with 0 for each of its digits."""
    return re.sub(r"\d", "0", number)


def _another(number: str, draw: random.Random) -> str:
    """Return a number of the same form: a near year, another small number, or one 1.5 to 2 times as large."""
    whole = re.match(r"\d+", number)
    assert whole is not None
    value = int(whole.group())
    if 1000 <= value <= 2100:
        new = value + draw.choice((-1, 1)) * draw.randint(3, 19)
    elif value <= 28:
        new = draw.choice([*range(2, value - 1), *range(max(2, value + 2), 29)])
    else:
        new = value + draw.randint(value // 2, value)
    return f"{new}{number[whole.end() :]}"


def _denied(s: PlainSentence, passages: Sequence[ShownPassage], draw: random.Random) -> Control | None:
    """Negate an English sentence."""
    verbs = list(_VERB.finditer(s.text))
    if len(verbs) != 1 or not _is_english(s.text):
        return None
    end = verbs[0].end()
    return Control(f"{s.text[:end]} not{s.text[end:]}", False, "denied", s.passage)


def _renamed(s: PlainSentence, passages: Sequence[ShownPassage], draw: random.Random) -> Control | None:
    """Replace the name that opens a sentence with a number by another name of the passages."""
    name = opening_name(s.text)
    if not name or not _NUMBER.search(s.text):
        return None
    rest = s.terms - set(text.content_terms(name))
    others: set[str] = set()
    for shown in passages:
        others.update(text.names(shown.text))
    free = []
    for other in sorted(others):
        if _can_replace(other, name, s, passages) and not _any_says_of(other, rest, passages):
            free.append(other)
    if not free:
        return None
    return Control(f"{draw.choice(free)}{s.text[len(name) :]}", False, "name", s.passage)


def _can_replace(other: str, name: str, s: PlainSentence, passages: Sequence[ShownPassage]) -> bool:
    """Return whether a name has as many words as another one, and none that the sentence has."""
    if " " not in name or other.count(" ") != name.count(" "):
        return False
    if re.search(r"\d", other) or not is_name(other, passages):
        return False
    return s.terms.isdisjoint(text.content_terms(other))


def _any_says_of(name: str, rest: frozenset[str], passages: Sequence[ShownPassage]) -> bool:
    """Return whether a sentence of the passages says of a name what another sentence says."""
    for shown in passages:
        for part in parts(shown.text):
            if _says_of(name, rest, part):
                return True
    return False


def _says_of(name: str, rest: frozenset[str], part: str) -> bool:
    """Return whether a sentence has a name and at least half of the other content words."""
    return name in part and 2 * len(rest & set(text.content_terms(part))) >= len(rest)


def _is_english(sentence: str) -> bool:
    """Return whether at least a quarter of the words are English function words."""
    words = text.words(sentence)
    function_words = 0
    for word in words:
        if word in text.STOP:
            function_words += 1
    return 4 * function_words >= len(words)


def stand(words: str, passages: Sequence[ShownPassage]) -> bool:
    """Return whether a passage contains words in their order; “...” marks an omission between them."""
    pieces = [_plain_of(piece) for piece in _GAP.split(words) if piece.strip()]
    if not pieces:
        return False
    for shown in passages:
        if _in_order(pieces, _plain_of(shown.text)):
            return True
    return False


def _in_order(pieces: Sequence[str], written: str) -> bool:
    """Return whether a text contains all pieces one behind the other."""
    at = 0
    for piece in pieces:
        found = written.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _plain_of(sentence: str) -> str:
    """Return a sentence in its compared form: single spaces, no case."""
    return " ".join(sentence.split()).casefold()


@cache
def _stock() -> tuple[dict[str, str], ...]:
    """Return the stock: pairs of a false and a true sentence, each with its passage."""
    written = files("ragweave.components").joinpath("data", "controls.json").read_text(encoding="utf-8")
    return tuple(json.loads(written))
