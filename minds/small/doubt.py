"""What speaks against the best sentence: no value of the kind asked for, or one of another thing, time or clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from ragweave.corpora.meta import FUNCTION_WORDS, guess_language
from ragweave.minds.small.answer.reading import person_of
from ragweave.minds.small.answer.sentences import Extract
from ragweave.minds.small.answer.spoken import is_recorded
from ragweave.minds.small.clauses import beyond
from ragweave.minds.small.question.asked import Asked, asked_of, has_clause
from ragweave.minds.small.question.facts import facts
from ragweave.minds.small.question.likes import LIGHT, likes
from ragweave.minds.small.question.value import affirms, lacks, unidentified
from ragweave.minds.small.sibling import like_named, of_another, place_of
from ragweave.minds.small.tables.ask import Asked as Table
from ragweave.models.calendar import MONTHS
from ragweave.models.text import STOP, content_terms, fold, sentences, stem, terms, verb_form, words
from ragweave.models.values import days

NAMED = 0.2
"""Share of the subject below which a sentence that says all that is asked says it of another."""
OF, LITTLE, UNSAID = 0.7, 0.4, 0.65
"""Share of the subject at which a sentence is of it, and of the slot below which it tells something else of it: without
a word for what is asked for (“what position”) it has to say more of the rest."""
OF_IT = 0.5
"""Share of the subject from which a sentence beside the best one is of it."""
AROUND = 0.3
"""Share of the slot from which the text around a sentence says it."""
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_NO = r"(?:(?:number|no\.?|nr\.?|nummer|numero|n[°º]|#) ?)?"
_NUMBERED = re.compile(
    rf"\b([^\W\d_][\w-]+) {_NO}(\d{{1,3}})\b(?![.,:/-]\d| ?(?:%|a\.?m\b|p\.?m\b|h\b|uhr\b|o['’]clock))"
)
"""A thing told from its like by a number, in a folded text: “Ferry 5”, “parking space number 9”."""
_SERIAL = re.compile(r"(?<![\w/-])\d{2,}[-/]\d{3,}(?![\w/-])(?<!\d{4}[-/](?:19|20)\d\d)")
"""A number in groups, that is no span of years: “invoice 2025-006”."""
_LEADS = STOP.union(
    *FUNCTION_WORDS.values(), MONTHS, ("until", "till", "under", "over", "per", "number", "least", "most")
)
"""Words before a number that no number tells from their like."""


def doubted(question: str, best: Extract, chosen: Sequence[Extract], filled: bool = False, passage: str = "") -> bool:
    """Tell whether something speaks against the best sentence, shown with the others that were chosen or in a passage.

    Where a name was put in the place of a description (`filled`), the sentence has to name it.
    """
    asked = asked_of(question)
    # What is shown beside it may tell the value, if it tells it of the same.
    beside = [e for e in chosen if e.covers & best.covers or e is best.partner]
    value = passage or " ".join(e.told if e.before or person_of(e.strip) else e.text for e in beside)
    if unidentified(asked, value):
        return True
    if guess_language(best.text) in ("en", "") and (lacks(asked, value) or affirms(asked, best.told)):
        return True
    place = place_of(best)
    shown = " ".join(e.told if e.before else e.text for e in chosen)
    around = f"{place} {best.strip['text']} {shown}"
    codes = {t for t in asked.subject if t.isalnum() and not (t.isalpha() or t.isdigit())}
    unsaid = not codes <= set(terms(around)) or any(c not in around for c in _SERIAL.findall(question))
    if unsaid or another(asked, f"{place} {shown}", around):
        return True
    if asked.value is not None or (asked.kind == "count" and not _OFTEN.search(question)):
        rates = [form for per, form in _RATES if per.search(question)]
        if any(not form.search(f"{place} {best.told}") for form in rates):
            return True
    # “Was kostete ...” begins like a question for yes or no.
    if (asked.kind != "yes" or asked.value is not None) and _only_meant(question, best):
        return True
    if to_come(question, best.told):
        return True
    if asked.kind != "time" and _of_other_year(question, best.told):
        return True
    if not is_recorded(best.strip) and of_another(question, best):
        return True
    if filled and best.signs[0] < OF_IT:
        return True
    # Who speaks in a recording names neither himself nor, in each sentence, what he speaks of.
    whole = best.partner is not None or is_recorded(best.strip)
    if not whole and best.signs[0] < NAMED <= 1 - NAMED <= best.signs[1]:
        return True
    # Of what is shown beside it counts what names the subject as well.
    of_it = [
        e
        for e in chosen
        if e is best.partner
        or (e.signs[0] >= OF_IT and (e is best or not like_named(question, e.told, e.strip["title"])))
    ]
    typed = asked.kind in ("time", "count", "yes") or asked.value is not None
    named = Table(question).named - LIGHT
    noun = named.union(*(alike for t, alike in likes(question).items() if t in named))
    said = not noun or noun & set(terms(f"{best.strip['title']} {shown}"))
    if not typed and best.signs[0] >= OF and max(e.signs[1] for e in [best, *of_it]) < (LITTLE if said else UNSAID):
        return True
    held = best.covers.union(*(e.covers for e in of_it))
    # “When did she die?” is not told by when she was born, nor “where does she live?” where it says so of others.
    elsewhere = asked.kind == "time" or (asked.kind == "name" and best.signs[1] >= AROUND)
    if elsewhere and not whole and asked.slot and not asked.foreign and not asked.slot & held:
        return True
    return any(of and not of & held for of in (asked.attribute, beyond(question, filled) - asked.implied))


_OFTEN = re.compile(r"\b(?:how (?:often|long|many times)|wie (?:oft|lange)|combien de (?:fois|temps))\b", re.I)
_RATES = tuple(
    (
        re.compile(
            rf"\b(?:per|pro|je|par|por) (?:{named})\b|每(?:{han})"
            rf"|\b(?:(?:an?|each|every|im|am|die|in der|jede[nrs]?|à l['’]|chaque|al|a la|cada) ?(?:{named})|{said})"
            r"(?=\W*$)",
            re.I,
        ),
        re.compile(rf"\b(?:{named}|{told})\b|\b(?:{said})|/ ?(?:{named}|{short})\b|{han}", re.I),
    )
    for named, told, said, short, han in (
        ("hours?|stunden?|heure|hora", "heures|horas", "hourly|stündlich", "h|std", "小时"),
        ("days?|tag|jour|d[ií]a", "tage?s?|jours|d[ií]as", "daily|täglich", "d", "[天日]"),
        ("nights?|nacht|nuit|noche", "nächte|nuits|noches", "nightly", "n", "[夜晚]"),
        ("weeks?|woche|semaine|semana", "wochen|semaines|semanas", "weekly|wöchentlich|hebdo|semanal", "wk", "周"),
        ("months?|monat|mois|mes", "monate?s?|meses", "monthly|monatlich|mensu", "mo", "月"),
        ("quarters?|quartal|trimestre", "quartale?s?|trimestres", "quarterly|vierteljährlich|trimestr", "q", "季"),
        (
            "years?|jahr|ann[ée]e|año",
            "jahre?s?|années|años|par an|p\\.?a",
            "annual|yearly|jährlich|annuel|anual",
            "yr",
            "年",
        ),
    )
)
"""How the time is asked that an amount is for (“per hour”, at the end “a month”, “im Monat”), and what tells of it."""


def _of_other_year(question: str, told: str) -> bool:
    """Tell whether a sentence dates what it tells by a year, and by none that the question names."""
    ours, theirs = set(_YEAR.findall(question)), set(_YEAR.findall(told))
    return bool(ours and theirs) and not ours & theirs and not has_clause(question) and not _LASTING.search(told)


_PAST = re.compile(
    r"\b(?:did|was|were|had(?! to\b)|kostete[nt]?|gekostet|[gb]ezahlt|wurden?|waren?|hatten?"
    r"|a coûté|costó)\b"
    r"|^(?!.*\bdo(?:es)?\b).*\b(?:has|have)\b(?! to\b)"
    r"|^(?:who|what|which [a-z]+|how many [a-z]+) (?:came|won|went|got|sang|made|paid|took|bought|cost)\b",
    re.I,
)
_MEANT = re.compile(
    r"\b(?:would|might|hop(?:e|es|ed|ing) (?:for|to)|propos(?:e|es|ed|al)|suggest(?:s|ed|ion)?|idea|perhaps|maybe"
    r"|want(?:s|ed)?(?= (?:about |around )?[€$£\d])|würden?|könnten?|idee|vielleicht|vorschlag|vorgeschlagen|hoffen"
    r"|idée|peut-être|voudrai\w*|pourrai\w*|quizás?|tal vez)\b",
    re.I,
)
"""What tells a wish, an idea or an offer."""
_PLAN = re.compile(r"\b(?:plan|plans|draft(?!.*\bapprov)|proposal|ideas?|entwurf|vorschlag|projet|borrador)\b", re.I)
_WANTED = re.compile(
    r"\b(?:want(?:s|ed)?|wish\w*|ask(?:s|ed)? for|offer\w*|quot\w+|planned|intend\w*|geplant|angeboten)\b", re.I
)
"""A question for the wish or the offer itself."""
_UNDONE = re.compile(r"\b(?:not|never|nobody|nothing|no|nicht|nie|kein\w*|pas|jamais|nunca)\b|n['’]t\b", re.I)
_CAME_TO_NOTHING = re.compile(
    r"\b(?:would like to|(?:did|have|has|had)(?: not| never|n['’]t)) [a-z]+ (?:it|them|this|that)\b"
    r"|\bdecided against (?:it|them|this|that)\b"
    r"|^(?:it|they|this|that) (?:was|were|is|has been|have been) (?:(?:not|never) (?:yet )?(?:bought|booked|ordered"
    r"|taken|built|done|held|signed|agreed|approved|accepted)|cancelled|dropped|called off|voted down|put off)\b"
    r"|\b(?:es|sie|das|ihn) (?:[a-zäöüß]+ ){0,2}?(?:nicht|nie|abgesagt|abgelehnt|verworfen)\b",
    re.I,
)
"""What a next sentence says of something that was not done in the end."""


def _only_meant(question: str, best: Extract) -> bool:
    """Tell whether it is asked what was, and told what was only wished for, offered or planned, or never came about.

    A sentence that says itself that it did not come about answers.
    """
    meant = any(form.search(question) for form in (_MEANT, _PLAN, _WANTED))
    if meant or not _PAST.search(question) or _UNDONE.search(best.told):
        return False
    after = best.strip["text"][best.end :].partition("\n")[0]
    ahead = after[slice(*next(iter(sentences(after)), (0, 0)))]
    if _MEANT.search(best.told) or _CAME_TO_NOTHING.search(ahead):
        return True
    # Under a plan it may be told what came of it, by the verb of the question.
    done = {stem(w) for w in words(best.told) if verb_form(w)} & set(content_terms(question))
    return bool(_PLAN.search(best.strip["title"])) and not done


def to_come(question: str, told: str) -> bool:
    """Tell whether it is asked when something was, and told of days that are all still to come."""
    today = datetime.now(UTC).date()
    found = [day for _, _, day in days(told)] if _PAST.search(question) and asked_of(question).kind == "time" else []
    return bool(found) and min(found) > today


_LASTING = re.compile(r"\b(?:since|from|until|till|between|by)\b", re.I)


def another(asked: Asked, told: str, around: str) -> bool:
    """Tell whether what is told, else the text around it, is of another time or numbered thing than is asked of."""
    near, far = _times(told), _times(around)
    for ours, theirs in zip(_times(asked.question), (n or f for n, f in zip(near, far, strict=True)), strict=True):
        within = ours & theirs or any(min(theirs, default=o) < o < max(theirs, default=o) for o in ours)
        if ours and not within and asked.kind != "time" and not has_clause(asked.question):
            return True
    said = fold(asked.question)
    for noun, number in ((m[1], m[2]) for m in _NUMBERED.finditer(said) if not _measured(said[m.start(2) :])):
        form = re.compile(rf"\b{re.escape(noun)}s?[ _-]?{_NO}(\d+)\b") if noun not in _LEADS else None
        found = form and (form.findall(fold(told)) or form.findall(fold(around)))
        if found and number not in found:
            return True
    return False


def _measured(text: str) -> bool:
    """Tell whether the number that opens a text has a unit behind it."""
    return next((bool(f.unit) for f in facts(text[:20])), False)


def _times(text: str) -> tuple[set[int], set[int]]:
    """Return the years and the months that a text names."""
    months = {int(f.value[6:]) for f in facts(text) if f.value.startswith("month ")}
    return {int(y) for y in _YEAR.findall(text)}, months
