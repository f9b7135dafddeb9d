"""reStructuredText: the author's words, and nothing from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.formats.probe import probe
from ragweave.corpora.formats.rst import parse

SAMPLE = """\
=====
Tides
=====

:Author: R. Marsh
:Date: 2020-02-03

The tide *rises* at the
old pier. See :ref:`the chart <chart>` and :class:`~sea.Tide`.

.. note:: Mind the current.

.. versionadded:: 2.1
   Spring tables.

Neap
====

- one
- two

  - inner

#. first
#. second

term
   Its meaning.

.. list-table::
   :header-rows: 1

   * - Place
     - Height
   * - Fundy
     - 16 m

.. code-block:: python

   print("tide")

.. toctree::

   hidden-page

.. comment that is not shown
"""


def test_every_block_has_its_kind_and_text(write: Callable[[str, str], Path]) -> None:
    parsed = parse(write("a.rst", SAMPLE))
    assert (parsed.title, parsed.author) == ("Tides", "R. Marsh")
    assert parsed.date is not None and parsed.date.year == 2020
    assert [(b.kind, b.level, b.text) for b in parsed.blocks] == [
        ("heading", 1, "Tides"),
        ("list", 0, "- Author: R. Marsh\n- Date: 2020-02-03"),
        ("text", 0, "The tide rises at the old pier. See the chart and sea.Tide."),
        ("text", 0, "Mind the current."),
        ("list", 0, "- 2.1: Spring tables."),
        ("heading", 2, "Neap"),
        ("list", 0, "- one\n- two\n  - inner"),
        ("list", 0, "1. first\n2. second"),
        ("list", 0, "- term: Its meaning."),
        ("table", 1, "Place | Height\nFundy | 16 m"),
        ("code", 0, 'print("tide")'),
    ]


def test_powers_bases_and_marks_of_notes_stand_apart_from_the_words_before_them(
    write: Callable[[str, str], Path],
) -> None:
    told = "It holds 10\\ :sup:`6` cells of H\\ :sub:`2`\\ O, as the *2*\\ :sup:`nd` note [1]_ says.\n\n"
    notes = "=====  ===========\nSeas   10\\ :sup:`3`\n=====  ===========\n\n.. [1] So it is.\n"
    found = [b.text for b in parse(write("a.rst", told + notes)).blocks]
    assert found[0] == "It holds 10^6 cells of H2O, as the 2nd note [1] says."
    assert found[1] == "Seas | 10^3"


def test_options_keep_what_parts_them_and_notes_without_a_number_leave_no_mark(
    write: Callable[[str, str], Path],
) -> None:
    told = "-f FILE, --file=FILE  The file.\n-a, --all  All.\n\nAuto [#]_ note and [#lab]_ and sym [*]_ here.\n"
    found = "\n".join(b.text for b in parse(write("a.rst", told)).blocks)
    assert "-f FILE, --file=FILE" in found and "-a, --all" in found
    assert " ".join(found.split("\n")[-1].split()) == "Auto note and [lab] and sym here."


def test_lines_point_at_the_source(write: Callable[[str, str], Path]) -> None:
    lines = SAMPLE.split("\n")
    for b in parse(write("a.rst", SAMPLE)).blocks:
        near = " ".join(lines[max(0, b.line - 3) : b.line + 3])
        assert b.line and b.text.split("\n")[0].split()[-1].strip(".") in near, (b.line, b.text)


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: secret.txt",
        ".. literalinclude:: secret.txt",
        ".. csv-table:: x\n   :file: secret.txt",
        ".. csv-table:: x\n   :url: http://127.0.0.1:9/secret",
        ".. raw:: html\n   :file: secret.txt",
        ".. raw:: html\n   :url: http://127.0.0.1:9/secret",
        ".. figure:: secret.txt",
    ],
)
def test_nothing_outside_the_file_is_read(
    write: Callable[[str, str], Path], directive: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write("secret.txt", "hunter2")
    parsed = parse(write("a.rst", f"Title\n=====\n\nBefore.\n\n{directive}\n\nAfter.\n"))
    text = " ".join(b.text for b in parsed.blocks)
    assert "hunter2" not in text
    assert "Before." in text and "After." in text
    assert capfd.readouterr() == ("", "")


def test_broken_markup_keeps_its_words_and_prints_nothing(
    write: Callable[[str, str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    parsed = parse(write("a.rst", "Title\n==\n\n*open |x| `unclosed\n\n- a\nno blank\n\n:unknown:`role text`\n"))
    text = " ".join(b.text for b in parsed.blocks)
    assert all(word in text for word in ("Title", "open", "unclosed", "no blank", "role text"))
    assert capfd.readouterr() == ("", "")


OBJECTS = """Settings
========

.. setting:: TIDE_LIMIT

``TIDE_LIMIT``
--------------

Default: ``3``

.. class:: Tide(place)

    .. attribute:: height

        Metres above
        :class:`~sea.Datum` zero.

    .. method:: rise()
       :async:

       Lifts the :class:`Boat`.

.. function:: ebb()
"""


def test_what_a_directive_of_another_program_names_is_the_term_of_its_words(write: Callable[[str, str], Path]) -> None:
    parsed = parse(write("a.rst", OBJECTS))
    text = "\n".join(b.text for b in parsed.blocks)
    assert text.count("TIDE_LIMIT") == 1  # the mark above a heading says what the heading says
    assert "Default: 3" in text
    assert "Tide(place)" in text
    assert "height: Metres above sea.Datum zero." in text
    assert "rise(): Lifts the Boat." in text
    assert "ebb()" in text
    line = next(b.line for b in parsed.blocks if "height: " in b.text)
    assert 13 <= line <= 16


@pytest.mark.parametrize(("name", "kind"), [("a.txt", "rst"), ("a", "rst"), ("a.md", "markdown")])
def test_a_text_with_directives_is_restructured_text_whatever_it_is_called(
    write: Callable[[str, str], Path], name: str, kind: str
) -> None:
    assert probe(write(name, OBJECTS)) == kind


def test_a_note_that_mentions_a_role_stays_a_text(write: Callable[[str, str], Path]) -> None:
    assert probe(write("a.txt", "Use :ref:`this` in the manual, he said.\n")) == "text"


SUBSTITUTED = """Notes of |FIRM|
===============

.. |firm| replace:: Rohde & Sons
.. |long| replace:: *the firm* of |firm|
.. |logo| image:: logo.png
   :alt: a blue ship
.. |loop| replace:: x |loop|
.. |today| date::

The lamp is by |firm|, |long|, with |logo|. It is |unknown|, |loop|, |today|.

.. versionadded:: 2
   Sold by |firm|.
"""


def test_substitutions_are_read_as_what_they_stand_for(write: Callable[[str, str], Path]) -> None:
    heading, text, added = parse(write("a.rst", SUBSTITUTED)).blocks
    assert heading.text == "Notes of Rohde & Sons"
    assert text.text == (
        "The lamp is by Rohde & Sons, the firm of Rohde & Sons, with a blue ship. It is unknown, x loop, today."
    )
    assert added.text.endswith("Sold by Rohde & Sons.")


def test_substitutions_cannot_make_a_text_much_longer(write: Callable[[str, str], Path]) -> None:
    defined = [".. |a0| replace:: " + "word " * 90]
    defined += [f".. |a{n}| replace:: " + f"|a{n - 1}| " * 10 for n in range(1, 40)]
    body = "\n".join(defined) + "\n\n" + "|a39| and |a1| " * 5_000
    assert sum(len(b.text) for b in parse(write("a.rst", body)).blocks) < 6 * len(body) + 20_000


def test_substitutions_in_directives_share_the_room_of_their_text(write: Callable[[str, str], Path]) -> None:
    body = ".. |a| replace:: " + "word " * 98 + "\n\n" + (".. foo:: bar\n\n   " + "|a| " * 60 + "\n\n") * 50
    assert sum(len(b.text) for b in parse(write("a.rst", body)).blocks) < 6 * len(body) + 10_000


def test_rows_of_a_csv_table_are_placed_where_they_stand(write: Callable[[str, str], Path]) -> None:
    text = """Boats
=====

.. csv-table::
   :header: "Name", "Crew"

   "Tern", "5"
   "Marten
   of Ness", "7"
   "Tern", "9"
"""
    (table,) = [b for b in parse(write("a.rst", text)).blocks if b.kind == "table"]
    assert table.text.split("\n") == ["Name | Crew", "Tern | 5", "Marten of Ness | 7", "Tern | 9"]
    assert [s.line for s in table.spans] == [5, 7, 8, 10]
