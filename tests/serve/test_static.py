"""Nothing lies in the page's scripts and styles that nothing uses: exports, names of a module, classes, icons."""

from __future__ import annotations

import re

from ragweave.tests.serve.test_words import _COMMENT, SCRIPTS, STATIC

CODE = {name: _COMMENT.sub(r"\1", script) for name, script in SCRIPTS.items()}
EVERYTHING = "\n".join(CODE.values()) + (STATIC / "index.html").read_text(encoding="utf-8")
OF_OTHERS = {"tml-display"}
"""Classes that what lies in `vendor` gives."""


def words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text)


def test_what_a_module_exports_another_one_takes() -> None:
    for name, code in CODE.items():
        elsewhere = "\n".join(other for n, other in CODE.items() if n != name and f'"./{name}"' in other)
        for exported in re.findall(r"^export (?:async )?(?:function|const|let|class) (\w+)", code, re.M):
            assert exported in words(elsewhere), f"{name}: {exported}"


def test_every_name_of_a_module_is_used_in_it_or_exported() -> None:
    for name, code in CODE.items():
        taken = [n for names in re.findall(r"^import \{([^}]*)\}", code, re.M) for n in words(names) if n != "as"]
        own = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", code, re.M)
        assert [n for n in [*taken, *own] if words(code).count(n) < 2] == [], name


def test_every_class_that_is_styled_and_every_icon_is_named_by_a_script() -> None:
    styles = "\n".join(path.read_text(encoding="utf-8") for path in (STATIC / "css").glob("*.css"))
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", styles, flags=re.S))
    styled = {c for selector in selectors for c in re.findall(r"[.#]([A-Za-z][\w-]*)", selector)}
    assert styled - OF_OTHERS - set(words(EVERYTHING)) == set()
    icons = re.findall(r"^  (\w+): \"", CODE["icons.js"], re.M)
    assert len(icons) > 30
    assert [icon for icon in icons if f'"{icon}"' not in EVERYTHING] == []
    properties = set(re.findall(r"(--[\w-]+):", styles))
    assert {p for p in properties if f"var({p}" not in styles + EVERYTHING} == set()
