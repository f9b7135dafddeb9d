"""Irregular forms of English verbs and nouns, which a suffix stemmer cannot join with their base."""

from __future__ import annotations

_ROWS = (
    "begin began begun|bring brought|build built|buy bought|catch caught|choose chose chosen|come"
    " came|become became|draw drew drawn|drive drove driven|fall fell fallen|fight fought|fly flew"
    " flown|freeze froze frozen|give gave given|go went gone|grow grew grown|hold held|keep kept|know"
    " knew known|lead led|leave left|light lit|lose lost|make made|meet met|pay paid|ride rode"
    " ridden|rise rose risen|run ran|say said|seek sought|sell sold|send sent|shoot shot|sing sang"
    " sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole"
    " stolen|swim swam swum|take took taken|teach taught|tell told|think thought|throw threw thrown|wear"
    " wore worn|win won|write wrote written|child children|man men|woman women|foot feet|lay laid|break"
    " broke broken|eat ate eaten|drink drank|forget forgot forgotten|arise arose arisen|bend bent|bite"
    " bitten|bleed bled|blow blew blown|breed bred|burn burnt|deal dealt|dig dug|dream dreamt|feed"
    " fed|feel felt|flee fled|forbid forbade forbidden|forgive forgave forgiven|hang hung|hear heard|hide"
    " hid hidden|learn learnt|lend lent|mean meant|mow mown|prove proven|ring rang rung|see seen|sew"
    " sewn|shake shook shaken|show shown|shrink shrank shrunk|slide slid|smell smelt|sow sown|spell"
    " spelt|spill spilt|spin spun|spoil spoilt|spring sprang sprung|stick stuck|sting stung|strike"
    " struck|swear swore sworn|sweep swept|swell swollen|swing swung|tear tore torn|wake woke woken|weave"
    " wove woven|weep wept|withdraw withdrew withdrawn|knife knives|goose geese|half halves|loaf"
    " loaves|mouse mice|person people|shelf shelves|thief thieves|tooth teeth|wife wives|wolf wolves"
)


def _read_rows() -> dict[str, str]:
    """Return the base of each form; the first word of a row is the base of the others."""
    bases: dict[str, str] = {}
    for row in _ROWS.split("|"):
        base, *forms = row.split()
        for form in forms:
            bases[form] = base
    return bases


BASE_OF_FORM = _read_rows()
"""The base of each irregular form. “found” is left out, because it is a base as well."""
