"""Recognise sentences that are no plain statements, because they deny, doubt, plan, report or bound a fact.

A rule that changes sentences skips these. The lists may lack words and languages, so no check may depend on
them alone.
"""

from __future__ import annotations

import re

_DENY = """
    not no never none nobody nothing neither nor without cannot
    nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne
    jamais sans ne pas aucun aucune rien
    nunca nada nadie ningún ninguna
    non senza mai nessun nessuno nessuna
    não sem
"""
_DOUBT = """
    may might could would should must shall will perhaps maybe possibly probably likely unlikely reportedly
    allegedly
    apparently seems seem if unless whether plans planned hopes
    vielleicht wohl angeblich könnte könnten dürfte soll sollen sollte müsste würde würden falls wenn ob
    wahrscheinlich
    scheint
    peut-être probablement pourrait pourraient devrait serait seraient sera seront semble
    quizá quizás vez podría podrían debería sería será serán parece
    forse probabilmente potrebbe dovrebbe sarebbe sarà sembra
    talvez poderia deveria seria
"""
_REPORT = """
    says said claims claimed claim believes believed believe thinks thought myth rumour rumor according
    supposedly
    denies denied deny alleges false untrue wrong
    sagt sagte behauptet behauptete glaubt laut falsch
    affirme prétend selon croit faux mythe
    dice dijo afirma cree según falso mito
    sostiene secondo crede segundo diz acredita
"""
_BOUND = """
    than over under above below least most about around roughly nearly almost up only to until by between from
    über unter mindestens höchstens etwa rund fast bis nur ab von zwischen
    plus moins environ presque jusqu'à seulement entre
    más menos casi hasta solo desde
    almeno circa quasi fino più meno
    mais quase até
"""
_UNSURE = frozenset(f"{_DENY} {_DOUBT} {_REPORT}".split())
_BOUNDS = frozenset(_BOUND.split())
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_CONTRACTED = re.compile(r"n['’]t\b|\bn['’]", re.I)


def is_plain(text: str) -> bool:
    """Return whether a sentence holds none of the words that deny, doubt, plan or report."""
    words = _WORD.findall(text[:1].lower() + text[1:])  # May with a capital is the month.
    return _UNSURE.isdisjoint(words) and not _CONTRACTED.search(text)


def is_bound(before: str) -> bool:
    """Return whether the two words before a number make it a bound, such as “more than”."""
    return not _BOUNDS.isdisjoint(_WORD.findall(before.lower())[-2:])
