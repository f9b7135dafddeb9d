"""Show characters of fonts whose letters are pictures (Symbol, Wingdings) in Unicode.

Office programs store the number of the picture in its font, alone or 0xF000 higher. Without its font the
number is
another letter, or none: a ticked box becomes `þ`, and `±` is lost. The tables hold what has a character in
Unicode.
"""

from __future__ import annotations

import re

_GREEK = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SIGNS = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"
_BRACKETS = "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
_WINGDINGS = (
    " 🖉✂✁👓🕭🕮🕯🕿✆🖂🖃📪📫📬📭📁📂📄🗏🗐🗄⏳🖮🖰🖲🖳🖴🖫🖬✇✍🖎✌👌👍👎☜☞☝☟🖐☺😐☹💣☠🏳🏱✈☼💧❄"
    "🕆✞🕈✠✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓🙰🙵●❍■☐🞐❑❒⬧⧫◆❖⬥☒⮹⌘🏵🏶❝❞ "
    "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿🙢🙠🙡🙣🙞🙜🙝🙟·•▪○🞆🞈◉◎🔿▪☐🟂✦★✶✴✹✵⯐⌖⟡⌑⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛"
    "⮰⮱⮲⮳⮴⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘➢⮙⮛⮈⮊⮉⮋←→↑↓↖↗↙↘←→↑↓↖↗↙↘⇦⇨⇧⇩⬄⇳⬁⬀⬃⬂▭▫✗✔☒☑"
)
_TABLES: dict[str, dict[int, str]] = {
    "symbol": {
        **dict(enumerate(_GREEK, 0x20)),
        **dict(enumerate(_SIGNS, 0xA0)),
        **dict(enumerate(_BRACKETS, 0xF1)),
    },
    "wingdings": dict(enumerate(_WINGDINGS, 0x20)),
    "wingdings 2": {
        **dict(zip(range(0x4F, 0x57), "✗✓☒☑☒☒⊗🚫", strict=True)),
        **dict(enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", 0x69)),
        **{0x95: "•", 0x96: "●", 0x97: "●", 0x98: "◉", 0x9A: "○", 0x9E: "·", 0x9F: "▪", 0xA0: "■", 0xA2: "■"},
        **{0xA3: "☐", 0xA4: "□", 0xA6: "▣", 0xAE: "◆", 0xB1: "◇", 0xE6: "★"},
    },
    "wingdings 3": dict(
        zip(range(0x66, 0x7E), "←→↑↓↖↗↙↘↔↕▲▼△▽◀▶◁▷◣◢◤◥◂▸", strict=True),
    ),
    "webdings": {
        **{0x33: "◀", 0x34: "▶", 0x35: "▲", 0x36: "▼", 0x61: "✔", 0x63: "☐", 0x67: "■", 0x6E: "●", 0x72: "✖"},
        **{0x69: "ℹ", 0x73: "❓", 0x59: "♥", 0xC8: "🏠", 0xCB: "🚴"},
    },
}
_PRIVATE = re.compile("[\uf000-\uf0ff]")
UNKNOWN = "\ufffd"
"""Replaces a character of such a font that has no other."""
TICKED, UNTICKED = "☒", "☐"
BOXES = frozenset("☐☑☒✓✔✗✘")
"""Marks of lists that say whether something is done."""


def is_symbolic(font: str) -> bool:
    """Return whether the letters of a font are pictures."""
    return " ".join(font.casefold().split()) in _TABLES


def symbol(font: str, number: int) -> str:
    """Return the character for a number in a font, UNKNOWN if there is none."""
    table = _TABLES.get(" ".join(font.casefold().split()))
    code = number - 0xF000 if 0xF000 <= number <= 0xF0FF else number
    if table is not None:
        return table.get(code, UNKNOWN)
    if code != number or not 0 < number < 0x110000 or 0xD800 <= number < 0xE000:
        return UNKNOWN
    return chr(number)


def shown(text: str, font: str) -> str:
    """Return a text as its font shows it; text in another font is left as it is, but for numbers of pictures.

    A number without its font is taken for one of Symbol, in which the fewest have another meaning.
    """
    if is_symbolic(font):
        return "".join(c if c.isspace() else symbol(font, ord(c)) for c in text)
    return _PRIVATE.sub(lambda found: symbol("symbol", ord(found[0])), text)
