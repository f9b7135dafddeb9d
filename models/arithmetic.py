"""Plain arithmetic in a question, computed by rule: "what is 17 * 23?", "12% of 350", "三加五等于多少".

The question is rewritten to a small language of numbers and operators and parsed by descent with exact fractions;
nothing is evaluated as code. Whatever does not fit the language whole is not arithmetic.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction

from ragweave.models.text import fold

_LONGEST = 200
_DIGITS = 60
"""Digits a number of the input or of a result may have."""
_DEEPEST = 40

_ASK = re.compile(
    r"^(?:(?:please|bitte|por favor|hey|ok|and|so)[ ,]+)*"
    r"(?:(?:can|could) you (?:please )?(?:tell me |work out |compute |calculate )|"
    r"what(?:'s| is| does| are)?|whats|how much (?:is|are|does)|calculate|compute|evaluate|work out|solve|find|"
    r"give me|tell me|"
    r"was (?:ist|sind|ergibt)|wie ?viel (?:ist|sind|ergibt|macht)|berechne|rechne|cuanto (?:es|son|da)|calcula|"
    r"combien (?:font|fait|est-ce que|vaut)|calcule|quel est|请问|请计算|计算|算一下|求)?\s*"
    r"(?:the (?:value|result|answer) (?:of|to) |the |la |el |le |die |der |das )?"
)
_TAIL = re.compile(r"(?:\s*(?:等于|是)(?:多少|几)?|\s*(?:equals?|ergibt|make|come to|gleich))?[\s=?？.。]*$")
_REWRITE: tuple[tuple[str, str], ...] = (
    (r"(?<=\d),(?=\d{3}(?!\d))", ""),
    (r"(?<=\d),(?=\d)", "."),
    (r"(.+?)的pct(\d[\d.]*)", r"\2 % of (\1)"),
    (r"(.+?)的平方根", r"sqrt (\1)"),
    (r"(.+?)的平方", r"(\1) ^ 2"),
    (r"(.+?)的一半", r"(\1) / 2"),
    (r"乘以|乘", " * "),
    (r"除以", " / "),
    (r"加上?", " + "),
    (r"减去?", " - "),
    (r"\b(?:square root|quadratwurzel|wurzel|raiz cuadrada|racine carree)(?: of| aus| von| de)?\b", " sqrt "),
    (r"\b(?:half of|half|halfte von|mitad de|moitie de)\b", " 0.5 * "),
    (r"\b(?:twice|double) ", " 2 * "),
    (r"\b(?:to the power of|raised to the power of|hoch|elevado a|puissance)\b", " ^ "),
    (r"\b(?:squared|al cuadrado|au carre)\b", " ^ 2 "),
    (r"\bcubed\b", " ^ 3 "),
    (r"\b(?:factorial of) (\d+)", r" \1! "),
    (r"\bfactorial\b", " ! "),
    (r"\b(?:multiplied by|times|mal|por|multiplicado por|fois|multiplie par)\b", " * "),
    (r"\b(?:divided by|over|geteilt durch|dividido (?:por|entre)|entre|divise par)\b", " / "),
    (r"\b(?:plus|added to|mas)\b", " + "),
    (r"\b(?:minus|less|menos|moins|take away)\b", " - "),
    (r"\b(?:mod|modulo)\b", " mod "),
    (r"\b(?:percent|per cent|prozent|por ciento|pour cent)\b", " % "),
    (r"%\s*(?:of|von|de)\b", " % of "),
    (r"(?<=[\d)])\s*[x×·∙]\s*(?=[\d(])", " * "),
    (r"[÷:](?=\s*\d)", " / "),
    (r"\*\*", " ^ "),
    (r"[−–]", " - "),
    (r"√", " sqrt "),
)
_COMPILED = tuple((re.compile(pattern), by) for pattern, by in _REWRITE)
_WORDS = {
    w: n
    for n, w in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {w: 10 * n for n, w in enumerate("thirty forty fifty sixty seventy eighty ninety hundred".split(), 3)}
_HAN = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2}
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+|sqrt\b|mod\b|of\b|[-+*/^%!()])")
_NOT_SUMS = re.compile(r"\d{1,4}([/.-])\d{1,2}\1\d{1,4}|\d{1,2}/\d{1,2}|\d{4}-\d{4}")
"""Dates, spans of years, and the like of "24/7"."""


def compute(question: str) -> str | None:
    """Return the value of the arithmetic that a question asks for, or None where it asks for anything else.

    Exact where the result is a fraction of integers; others are rounded to 10 significant digits. Division by zero,
    roots of negative numbers and results beyond 60 digits give None.

    >>> compute("what is 17 * 23?")
    '391'
    """
    if not question or len(question) > _LONGEST:
        return None
    text = _translate(question)
    if _NOT_SUMS.fullmatch(text.strip()):
        return None
    tokens = _tokens(text)
    if tokens is None or not any(t in "+-*/^%!sqrtmod" for t in tokens):
        return None
    try:
        value = _Parser(tokens).parse()
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return _shown(value)


def _translate(question: str) -> str:
    text = fold(question.strip()).replace("¿", "").replace("，", " ")
    text = _TAIL.sub("", text)
    text = _ASK.sub("", text, count=1)
    text = _han_numbers(text.replace("百分之", "pct"))
    text = re.sub(r"\b[a-z]+\b", lambda m: str(_WORDS.get(m[0], m[0])), text)
    for pattern, by in _COMPILED:
        text = pattern.sub(by, text)
    return text


def _han_numbers(text: str) -> str:
    """Rewrite Chinese numerals below ten thousand as digits."""

    def value(m: re.Match[str]) -> str:
        total = digit = 0
        for c in m[0]:
            unit = {"十": 10, "百": 100, "千": 1000}.get(c)
            if unit is None:
                digit = _HAN[c]
            else:
                total += (digit or 1) * unit
                digit = 0
        return str(total + digit)

    return re.sub(r"[零一二两三四五六七八九十百千]+(?!半)", value, text)


def _tokens(text: str) -> list[str] | None:
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        m = _TOKEN.match(text, at)
        if m is None or len(m[1]) > _DIGITS:
            return None
        tokens.append(m[1])
        at = m.end()
    return tokens or None


class _Parser:
    """Recursive descent: sum > product > power > unary > number."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0
        self._depth = 0

    def parse(self) -> Fraction:
        value = self._sum()
        if self._peek():
            raise ValueError("trailing input")
        return value

    def _peek(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _sum(self) -> Fraction:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("nested too deeply")
        value = self._product()
        while self._peek() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        self._depth -= 1
        return _bounded(value)

    def _product(self) -> Fraction:
        value = self._unary()
        while self._peek() in ("*", "/", "mod", "of"):
            operator, right = self._take(), self._unary()
            if operator in ("*", "of"):
                value *= right
            else:
                value = value / right if operator == "/" else value % right
            value = _bounded(value)
        return value

    def _unary(self) -> Fraction:
        sign = 1
        while self._peek() in ("+", "-"):
            sign = -sign if self._take() == "-" else sign
        if self._peek() == "sqrt":
            self._take()
            self._depth += 1
            if self._depth > _DEEPEST:
                raise ValueError("nested too deeply")
            return sign * _root(self._unary())
        return sign * self._power()

    def _power(self) -> Fraction:
        value = self._postfix()
        if self._peek() == "^":
            self._take()
            exponent = self._unary()
            if exponent.denominator != 1 or abs(exponent) * max(1, _size(value)) > 4 * _DIGITS:
                raise OverflowError("power too large")
            value = _bounded(Fraction(value**exponent.numerator))
        return value

    def _postfix(self) -> Fraction:
        token = self._take()
        if token == "(":
            value = self._sum()
            if self._take() != ")":
                raise ValueError("parenthesis not closed")
        elif token and (token[0].isdigit() or token[0] == "."):
            value = Fraction(token)
        else:
            raise ValueError(f"unexpected {token!r}")
        while self._peek() in ("%", "!"):
            value = value / 100 if self._take() == "%" else _factorial(value)
        return value


def _size(value: Fraction) -> int:
    return max(len(str(abs(value.numerator))), len(str(value.denominator))) if value not in (0, 1, -1) else 1


def _bounded(value: Fraction) -> Fraction:
    if _size(value) > 4 * _DIGITS:
        raise OverflowError("number too long")
    return value


def _factorial(value: Fraction) -> Fraction:
    if value.denominator != 1 or not 0 <= value <= 40:
        raise OverflowError("factorial out of range")
    product = 1
    for n in range(2, int(value) + 1):
        product *= n
    return Fraction(product)


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise ValueError("root of a negative number")
    with localcontext() as context:
        context.prec = 40
        root = (Decimal(value.numerator) / Decimal(value.denominator)).sqrt()
        exact = Fraction(root)
    near = Fraction(round(root)) if root == root.to_integral_value() else exact
    return near if near * near == value else exact


def _shown(value: Fraction) -> str | None:
    if value.denominator == 1:
        digits = str(value.numerator)
        return digits if len(digits) <= _DIGITS else None
    with localcontext() as context:
        context.prec = 40
        number = Decimal(value.numerator) / Decimal(value.denominator)
        context.prec = 10
        number = +number
    if number.adjusted() < -12 or number.adjusted() > _DIGITS:
        return None
    shown = f"{number:f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
