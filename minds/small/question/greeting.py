"""Greetings and thanks need no search, recognised by rule."""

from __future__ import annotations

import re

from ragweave.models.text import fold

_FINE = (
    r"(?:ok(?:ay)?|great|good|fine|perfect|lovely|nice|brilliant|super|wonderful|excellent|got\W+it)"
    r"(?=\W*(?:$|[,.!]|(?:many\W+)?thank))"
)
"""What says that an answer will do."""
_WORDS = rf"""
    {_FINE}
    hi+ hello+ hey+ greetings good\W+(?:morning|afternoon|evening|night|day) bye goodbye
    thanks(?:\W+(?:a\W+lot|so\W+much|again|very\W+much))? thank\W+you(?:\W+(?:so\W+much|very\W+much|again))? cheers
    hallo servus moin
    guten\W+(?:morgen|tag|abend) gute\W+nacht tschuss danke(?:\W+(?:schon|sehr|dir|ihnen))? vielen\W+dank
    hola buen[oa]s\W+(?:dias|tardes|noches) adios (?:muchas\W+)?gracias bonjour bonsoir salut au\W+revoir
    merci(?:\W+beaucoup)? ciao grazie ola obrigad[oa]
    привет спасибо 你好 您好 早上好 下午好 晚上好 晚安 再见 谢谢[你您]?
    こんにちは ありがとう(?:ございます)?
"""
_AFTER = r"there again everyone all ragweave team please that(?:\W?s|\W+is|\W+was)\W+all for\W+(?:the|your)\W+help"
_ONE = rf"(?:{'|'.join(_WORDS.split())})(?![a-zа-я])\W*(?:(?:{'|'.join(_AFTER.split())})(?![a-z])\W*)?"
_GREETING = re.compile(rf"\W*(?:{_ONE})+")
_THANKS = re.compile(
    rf"{_FINE}|thank|cheers|bye|danke?|dank\b|gracias|merci|grazie|obrigad|au\W+revoir|adios|tschuss|спасибо|谢谢|再见|ありがとう"
)
_LONGEST = 60
_ADDRESSED = re.compile(rf"\W*(?:{_ONE}|dear(?:\s+\w+){{1,2}}\s*[,:]\s*)+(?:(?<=[a-z] )(?:\w+\s?){{1,2}}[,!:]\s*)?")
"""A greeting, and whom it addresses."""


def ungreeted(text: str) -> str:
    """Return a text without the greetings and thanks that it opens with; "" where it is nothing else."""
    folded = fold(text)
    m = _ADDRESSED.match(folded) if len(folded) == len(text) else None
    return text[m.end() :].lstrip() if m else text


def is_thanks(text: str) -> bool:
    """Tell whether a greeting thanks, or says goodbye."""
    return is_greeting(text) and _THANKS.search(fold(text)) is not None


def is_greeting(text: str) -> bool:
    """Tell whether the whole of a text greets or thanks."""
    return len(text) <= _LONGEST and _GREETING.fullmatch(fold(text)) is not None
