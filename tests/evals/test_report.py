import json
from html.parser import HTMLParser

import pytest

from ragweave.evals import report
from ragweave.evals.metrics import Bin
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


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "rect", "circle", "polyline"):
            self.open.append(tag)
        self.links += [v for k, v in attributes if k in ("src", "href")]

    def handle_endtag(self, tag):
        if tag not in ("rect", "circle", "polyline"):
            assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_no_other_file():
    body = [
        report.html_table(["a<b"], [["<script>"], [0.5]]),
        report.confusion_plot({"x": {"x": 3, "y": 1}}, ["x", "y"]),
        report.reliability_plot([Bin(0.5, 0.4, 10)]),
        report.curve_plot([(1.0, 0.5), (2.0, 0.9)], "cost", "accuracy", "caption"),
        report.curve_plot([], "cost", "accuracy", "caption"),
    ]
    text = report.page("A & B", body)
    parsed = Page()
    parsed.feed(text)
    assert parsed.open == []
    assert parsed.links == []
    assert "<script>" not in text
    json.dumps(text)
