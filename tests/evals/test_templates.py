import pytest

from ragweave.corpora.types import LABELS
from ragweave.evals.data import read_routed
from ragweave.evals.templates import GRAMMAR, read_grammar, template_questions
from ragweave.models.errors import InputError
from ragweave.models.text import words


def test_every_label_has_many_patterns_in_five_languages():
    found = template_questions()
    for label in LABELS:
        own = [t for t in found if t.label == label]
        assert len(own) >= 300
        assert {t.language for t in own} == {"en", "de", "es", "fr", "zh"}


def test_questions_are_distinct_and_the_same_for_the_same_seed():
    found = template_questions()
    assert len({t.query.casefold() for t in found}) == len(found)
    assert found == template_questions()
    assert found != template_questions(seed=8)


@pytest.mark.parametrize("line", ["no section yet", "[none en]\n(open", "[none en]\n{unknown}"])
def test_a_broken_grammar_names_its_line(tmp_path, line):
    path = tmp_path / "grammar.txt"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match=f"line {line.count(chr(10)) + 1} of grammar.txt"):
        read_grammar(path)


def test_no_template_question_stands_in_the_probe_set():
    probe = [r.query for r in read_routed(GRAMMAR.parent / "router_probe.jsonl", LABELS)]
    made, written = ({tuple(words(t)) for t in texts} for texts in ([t.query for t in template_questions()], probe))
    assert len(made & written) <= 8, made & written
