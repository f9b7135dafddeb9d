"""The words around a question, as patterns: courtesy, requests, where to look, changes of subject, turns of a sentence.

English first, with the usual frames of German and French. Each line of a table is one alternative; a blank in it stands
for any white space, an apostrophe for either kind, and brackets only group.
"""

from __future__ import annotations

import re


def _any(table: str, **parts: str) -> str:
    lines = [" ".join(line.split()) for line in table.strip().splitlines()]
    joined = "|".join(lines)
    joined = re.sub(r"\((?!\?)", "(?:", joined).replace(" ", r"\s+").replace("'", "['’]")
    for name, pattern in parts.items():
        joined = joined.replace(f"<{name}>", f"(?:{pattern})")
    return joined


_ANY_NOTES = _any(
    r"""
    (all )?(of )?(my|our|these) (own |personal )?(notes?|files?|documents?|docs|papers|records|library|folders?)
    (all )?(of )?(my|our|these) (own |personal )?(archives?|data)
    (all )?the (notes|files|documents|docs|knowledge base)
    """
)
WHERE = _any(
    r"""
    (in|from|through|inside|within|among|at|over|into|across|using|based on|according to|going by|as per) <notes><plain>
    (in|aus|laut|nach) (meinen|meine|unseren|unsere|den|die) (notizen|dateien|unterlagen|dokumenten?|papieren?)
    (dans|selon|d'après) (mes|nos|les) (notes|fichiers|documents|papiers)
    """,
    notes=_ANY_NOTES,
    plain=r"(?!\s+(?:of|on|about|from|by|for|in)\b|[\w’'-])",
)
"""Where to look, told of nothing in particular: a document that is named by its subject stays in the question."""

_ASKED = _any(
    r"""
    tell|remind|say|show|give|inform|look( it)? up|look|check|search|find( out)?|see|dig( out)?|help|explain
    confirm|work out|figure out|let (me|us) know|point out|share|get
    """
)
_TO = r"(?:\s+(?:(?:to|for)\s+)?(?:me|us)\b)?(?:\s+(?:to\s+)?(?:find(?:\s+out)?|know|see|understand))?(?:\s+up)?"
_SOFT = r"(?:(?:please|kindly|possibly|perhaps|maybe|quickly|just|also|then|now|be\s+able\s+to|bitte)\s+)*"
_MIR = r"(?:(?:mir|uns|bitte|mal|me|nous|s['’]il\s+(?:vous|te)\s+plaît|<where>)\s+)*".replace("<where>", WHERE)
REQUEST = re.compile(
    "(?:"
    + _any(
        r"""
        (could|can|would|will|might|may) you <soft>(be so (kind|good) as to )?<asked><to>
        would you mind (telling|\w+ing)<to>
        (can|could|may) (i|we) <soft>(ask( you)?|know)
        <soft>(tell|remind) (me|us)( again)?
        <soft>let (me|us) know
        <soft>look( \w+)? up
        <soft>help (me|us)( to)? (find( out)?|remember|work out|understand)
        do (me|us) a favou?r( and)?
        (do|would) you (happen to |by any chance )?(know|remember|recall)
        (whether |if )?you (happen to |might |would )?know
        (whether|if) you (could|can) (tell|show|help|remind) (me|us)
        (have you got |do you have |have you )?any idea
        any chance you know
        (i|we)( (was|were|am|are|have been|had been)|'(m|ve been|re))? <really>(wondering|wonder|curious)
        (i|we)( (was|were|am|are|have been)|'(m|ve been|re))? <really>(asking (myself|ourselves)|not sure|unsure)
        (i|we)( (was|were|am|are|have been)|'(m|ve been|re))? <really>trying to (find out|work out|remember|recall)
        (i|we)('d| would| should)? <really>(like|love|want|need|have) to (know|find out|ask( you)?|learn|look up)
        (i|we)('d| would) (like|want) you to (tell (me|us)|look up|find( out)?)
        (i|we) <really>(can ?not|can't|couldn't|don't|do not|no longer) (quite )?(remember|recall|know|find( out)?)
        (i|we)('ve| have)? (just |clean |quite )*forg[eo]t(ten)?
        (my|our|the|one|a|another) (quick |short |last |first |next )*question( (is|was|would be))?
        (quick|short|small|simple|one( more)?|another) (question|thing)
        what (i|we)('d like to| want to| need to| would like to) know is
        (könntest|kannst|würdest) du <mir>(sagen|verraten|nachsehen|nachschauen|schauen)
        (könnten|können|würden) sie <mir>(sagen|verraten|nachsehen|nachschauen|mitteilen)
        (sag mir|sagen sie mir)( bitte)?
        (weißt|weisst) du|wissen sie
        ich (wüsste|würde|möchte|wollte|will) gerne?( wissen)?|ich (möchte|wollte|will) wissen
        ich frage mich|ich habe vergessen
        (pourriez|pouvez)[- ]vous <mir>(dire|regarder|rappeler|indiquer|vérifier)
        (pourrais|peux)[- ]tu <mir>(dire|regarder|rappeler|indiquer|vérifier)
        dis[- ]moi|dites[- ]moi|sais[- ]tu|savez[- ]vous|je me demande
        (je voudrais|j'aimerais) savoir
        """,
        soft=_SOFT,
        asked=_ASKED,
        to=_TO,
        really=r"(?:(?:also|just|only|really)\s+)*",
        mir=_MIR,
    )
    + r")(?:\s+(?:(?:something|anything|everything|more|all|a\s+bit)\s+)?about(?=\s))?"
    rf"(?:\s+please)?(?:\s+(?:{WHERE}))?(?:\s+please)?(?:\s*[:,–—-]+\s+|\s+|$)",
    re.I,
)
"""What asks to be told; the question follows."""
EMBEDDED = re.compile(
    r"(?:\b(?P<prep>in|on|at|to|for|from|by|with|of|about|since|until|under|into|through|after|before|during|without)\s+)?"
    r"\b(?:(?P<sure>how|what|whether|why)|who|whom|whose|which|where|when)\b(?:['’]s)?",
    re.I,
)
"""A question word within a sentence; some of them also open relative clauses."""
SELF = re.compile(r"\b(?:I|me|us|we|you|u)\b|\bto\s+(?:know|hear|learn)\W*$", re.I)
"""Who asks and who is asked: what stands before a question and speaks of them requests it."""
LEADS = re.compile(
    r"(?:\b(?:me|us|know|out|up|on|about|of|remember|recall|see|check|understand|tell|say|find|wonder|wondering|whether|if)"
    rf"|[:–—-]|{WHERE})\s*$",
    re.I,
)
"""What stands right before a question word that asks, and not before one that relates."""
STAYS = re.compile(
    r"(?:in|on|at|if|when|after|before|during|according|for|with|without|besides|of|as|while|since|under|unlike|apart|by"
    r"|from|to|because|although|once|until|wenn|falls|bei|im|am|si|dans|en|selon)\b",
    re.I,
)
"""How a part of a question opens that stands in front of it."""
OWN = re.compile(r"(?:i|we|my|our|ich|je|j)\b", re.I)
"""How a request opens that may as well tell a reason (“I cannot find my keys.”)."""

_BREAK = r"\s*[,:;.!–—-]*\s*"
OPENING = re.compile(
    "(?:"
    + _any(
        r"""
        please|kindly|pls|bitte|s'il (vous|te) plaît|ok(ay)?|alright|actually|anyway|excuse me|hey
        if you (can|could|know|don't mind)|if possible|if i may( ask)?
        (sorry|apologies)[\w\s]{0,20}bother(ing)? you
        as far as (you|we|i) know|(just )?out of (sheer |pure )?curiosity|just curious|quick one|no rush|help
        <where>
        """,
        where=WHERE,
    )
    + rf")\b{_BREAK}|(?:well|so|right|now|oh|ah|um+|hm+|sorry|pardon|listen|just|then|see|look)"
    r"(?:\s*[,:;.!–—-]+\s*|\s+(?=(?:wh|how\b|can\b|could\b)))",
    re.I,
)
GOES_ON = re.compile(
    "(?:"
    + _any(
        """
        and|but|or|also|plus|what about|how about|und|aber|et|mais
        wie (ist es|sieht es) mit|qu'en est-il de
        """
    )
    + r")\b\s*[,:]?\s*",
    re.I,
)
FRESH = re.compile(
    r"(?:and\s+)?(?:now\s+)?(?:"
    + _any(
        """
        (something|someone|somebody) else
        (on )?(a |an )?(other|another|different|new|next|unrelated) (subject|topic|question|matter|thing|note)
        (to )?change( of| the) (subject|topic)|changing the (subject|topic)|unrelated(ly)?
        by the way|btw|forget (that|it)|never ?mind
        etwas anderes|anderes thema|andere frage|autre chose|changeons de sujet
        """
    )
    + rf")\b(?:\s+(?:entirely|altogether|completely|now|though))?{_BREAK}",
    re.I,
)
CLOSING = re.compile(
    r"[\s,;.!–—-]*\b(?:"
    + _any(
        r"""
        please|pls|many thanks|cheers|bitte|s'il (vous|te) plaît
        thanks?( (you|a lot|so much|in advance|again|very much|a million|for (your|the) help))*
        danke( (schön|sehr|im voraus))?|merci( (beaucoup|d'avance))?
        if you (can|could|know|happen to know|don't mind)|if possible|by any chance|for me|do you know|you know
        (can|could|would) you (tell|help|remind) (me|us)
        <where>
        """,
        where=WHERE,
    )
    + r")\s*(?P<end>[?？!.]*)\s*$",
    re.I,
)
WITHIN = re.compile(rf"[\s,]+(?:{WHERE})(?=\s*[,?.]|$)|,\s*please\s*,", re.I)
"""Where to look, and a “please”, in the middle of a question."""

WH = r"(?:who|whom|whose|which|what|where|when|why|how)(?:['’](?:s|re|d|ll))?"
PREP = r"(?:in|on|at|to|for|from|by|with|of|about|since|until|under|into|through|after|before|during|without)"
VERB = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|might|must|will|would|shall|should"
    r"|(?:is|are|was|were|do|does|did|ca|wo|has|have)n['’]t)"
)
_W = (
    r"(?:wer|wen|wem|wessen|was|wann|wo|wohin|woher|warum|wieso|wie|welche[rnms]?|qui|quel(?:le)?s?|quand|où|comment"
    r"|pourquoi|combien|que|qu['’]\S+|est-ce)"
)
QUESTION = re.compile(
    rf"(?:{PREP}\s+)?(?:{WH}|{_W})\b|(?:\w+\s+){{0,2}}combien\b|à\s+quel\w*\b|(?:um|in|an|auf|seit|bis|mit|für)\s+{_W}\b"
    rf"|{VERB}\s+(?!you\b)\S+|whether\b|if\b(?=[^,]+$)",
    re.I,
)
"""How a question opens."""
ORDER = re.compile(
    r"(?:list|show|find|name|give|summari[sz]e|describe|explain|compare|count|sum\s+up|tell|look|search|translate"
    r"|calculate|define|outline|fasse?|nenne|zeige?|résume[rz]?)\b",
    re.I,
)
TURN = re.compile(
    rf"(?:[,;]\s+(?:so|and|but|then|also)\s+|[;:]\s+|\s+[–—-]+\s+)"
    rf"(?=(?:please\s+)?(?:{PREP}\s+)?(?:{WH}|{VERB}\s+(?!not)\w+|tell\s+me)\b)"
    r"|,\s+(?=(?:please\s+)?(?:what|how|when|why)\b"
    r"|(?:is|was|are|were|does|did|can)\s+(?:it|that|this|they|there|he|she|i|we)\b)",
    re.I,
)
"""Where a sentence turns from telling to asking."""
MINE = re.compile(
    r"\bI\b(?!['’]s\b)|\b[Ww]e\b|\b(?:me|us|my)\b|(?:^|[.!?]\s)(?:My|Our|i|Ich|Wir|Mein\w*|Unser\w*|Je|J['’]|Nous|Mon|Ma|Mes|Notre)\b"
)
"""A sentence that speaks of who asks gives a reason for the question, and seldom a part of it."""
