from ragweave.evals import report


def test_tables_align_text_left_and_numbers_right():
    assert report.table(["name", "value"], [["a", 1.0], ["longer", 0.5]]).splitlines() == [
        "name    value",
        "------  -----",
        "a       1.000",
        "longer  0.500",
    ]
    assert report.table(["x"], []) == "x\n-"


def test_runs_are_compared_key_by_key():
    lines = report.compare({"a": 0.5, "b": 1}, {"a": 0.75, "c": 2}).splitlines()
    assert lines[2].split() == ["a", "0.5000", "0.7500", "+0.2500"]
    assert lines[3].split() == ["b", "1.0000", "-", "-"]
