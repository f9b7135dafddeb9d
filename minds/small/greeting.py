"""Greetings and thanks need no search, recognised by rule."""

from __future__ import annotations

import re

from ragweave.models.text import fold

_WORDS = r"""
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
_GREETING = re.compile(
    rf"\W*(?:(?:{'|'.join(_WORDS.split())})(?![a-zа-я])\W*(?:(?:{'|'.join(_AFTER.split())})(?![a-z])\W*)?)+"
)
_LONGEST = 60


def is_greeting(text: str) -> bool:
    """Tell whether the whole of a text greets or thanks."""
    return len(text) <= _LONGEST and _GREETING.fullmatch(fold(text)) is not None
