import pytest

from ragweave.corpora.types import LABELS
from ragweave.evals.data import read_routed
from ragweave.evals.templates import GRAMMAR, read_grammar, template_questions
from ragweave.models.errors import InputError
from ragweave.models.text import words


@pytest.mark.parametrize("line", ["no section yet", "[none en]\n(open", "[none en]\n{unknown}"])
def test_a_broken_grammar_names_its_line(tmp_path, line):
    path = tmp_path / "grammar.txt"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match=f"line {line.count(chr(10)) + 1} of grammar.txt"):
        read_grammar(path)


def test_no_template_question_stands_in_the_probe_set():
    probe = [r.query for r in read_routed(GRAMMAR.parent / "router_probe.jsonl", LABELS)]
    made, written = (
        {tuple(words(t)) for t in texts} for texts in ([t.query for t in template_questions()], probe)
    )
    assert len(made & written) <= 8, made & written
