import pytest

from ragweave.evals import report
from ragweave.models.errors import InputError


def test_tables_align_text_left_and_numbers_right():
    assert report.table(["name", "value"], [["a", 1.0], ["longer", 0.5]]).splitlines() == [
        "name    value",
        "------  -----",
        "a       1.000",
        "longer  0.500",
    ]
    assert report.table(["x"], []) == "x\n-"


def test_the_confusion_table_shows_labels_out_of_the_vocabulary_too():
    text = report.confusion_table({"a": {"a": 2, "odd": 1}}, ["a", "b"])
    assert text.splitlines()[0].split()[-1] == "odd"
    assert text.splitlines()[-1].split() == ["a", "2", "0", "1"]


def test_figures_survive_writing_and_reading(tmp_path):
    path = tmp_path / "deep" / "run.json"
    report.write_json(path, {"accuracy_micro": 0.5, "name": "x", "questions": 3})
    assert report.read_figures(path) == {"accuracy_micro": 0.5, "questions": 3.0}


@pytest.mark.parametrize("content", ["[]", "{", ""])
def test_a_file_without_figures_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match="not a file of figures"):
        report.read_figures(tmp_path / "x.json")


def test_runs_are_compared_key_by_key():
    lines = report.compare({"a": 0.5, "b": 1}, {"a": 0.75, "c": 2}).splitlines()
    assert lines[2].split() == ["a", "0.5000", "0.7500", "+0.2500"]
    assert lines[3].split() == ["b", "1.0000", "-", "-"]
