"""Formulas in pages without scripts: drawn where they are written as such, and never a way for markup."""

from __future__ import annotations

import re

import pytest

from ragweave.serve.formulas import in_markdown, with_formulas


@pytest.mark.parametrize("tex", ["$E = mc^2$", r"\(E = mc^2\)", "$$E = mc^2$$", r"\[E = mc^2\]"])
def test_a_formula_between_its_signs_is_drawn_and_the_rest_is_text(tex: str) -> None:
    drawn = with_formulas(f"Energy & mass: {tex}, as <i>said</i>.")
    assert drawn.startswith("Energy &amp; mass: <math") and drawn.endswith("</math>, as &lt;i&gt;said&lt;/i&gt;.")
    assert (
        "<msup><mi>c</mi><mn>2</mn></msup>" in drawn
        and 'display="%s"' % ("inline" if tex[:2] in ("$E", r"\(") else "block") in drawn
    )


@pytest.mark.parametrize("text", ["It costs $5 or $6.", "$ x $", "no sign at all"])
def test_a_price_is_no_formula(text: str) -> None:
    assert with_formulas(text) == text


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(http://evil.example)}{x}",
        r"\color{red\" onclick=\"alert(1)}{x}",
        r"\class{a}{x}\id{b}{y}",
    ],
)
def test_nothing_but_mathml_without_addresses_or_styles_comes_out_of_a_formula(tex: str) -> None:
    drawn = with_formulas(f"${tex}$")
    assert set(re.findall(r"<(\w+)", drawn)) <= {"math", "mrow", "mi", "mo", "mn", "mtext", "mstyle"}
    assert not re.search(r"<[^>]*(?:href|style=|onclick|url\(|class=|id=)", drawn)


@pytest.mark.parametrize("tex", ["{" * 1_500, r"\left(x", "x" * 2_001])
def test_what_cannot_be_drawn_stays_as_it_is_written(tex: str) -> None:
    assert with_formulas(f"${tex}$") == f"<code>${tex}$</code>"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("![x](http://evil) <b> `y` [z] 2*3*4", r"!\[x\](http://evil) \<b> \`y\` \[z\] 2\*3\*4"),
        (r"It is $\frac{a*b}{c[1]}$ [m].", r"It is $\frac{a*b}{c[1]}$ \[m\]."),
        ("$![x](http://evil)$ and $<img src=x>$", r"$!\[x\](http://evil)$ and $\<img src=x>$"),
    ],
)
def test_in_markdown_a_formula_stays_and_no_text_becomes_markup(text: str, told: str) -> None:
    assert in_markdown(text) == told
