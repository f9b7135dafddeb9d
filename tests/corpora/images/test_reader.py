"""Looking at the pictures of one file within its limits."""

from ragweave.corpora.images import reader as module
from ragweave.corpora.images.reader import PictureReader
from ragweave.models.pictures import open_picture
from tests.corpora.images.conftest import BLUE, GREEN, RED, picture  # type: ignore[import-not-found]


def test_a_copy_is_kept_and_the_words_are_placed_in_it(painted, media):
    told = []
    reader = PictureReader(media, 60, lambda: told.append(True))
    shot = reader.look(picture(RED, (1_600, 800)))
    assert told == [True]
    assert shot.size == (1_600, 800) and shot.stored == (1_024, 512)
    assert [line.text for line in shot.lines] == ["Red harbour", "open all night"]
    assert shot.lines[0].box == (6.4, 6.4, 1_017.6, 19.2)
    assert (media / shot.name).stat().st_size > 0
    assert reader.warnings() == []


def test_icons_are_left_out_and_damaged_pictures_are_named(painted, media):
    reader = PictureReader(media, 60)
    assert reader.look(picture(RED, (30, 200))) is None
    assert reader.shoot(open_picture(picture(RED, (30, 200))), small=True) is not None
    for data in (b"no picture", picture(GREEN)[:60]):
        assert reader.look(data) is None
    [warning] = reader.warnings()
    assert warning.startswith("a picture was left out: the picture is damaged") and warning.endswith("(2 pictures)")


def test_without_an_engine_pictures_are_kept_and_it_is_said(media, monkeypatch):
    monkeypatch.setattr(module, "ocr", lambda: None)
    reader = PictureReader(media, 60)
    assert reader.look(picture(RED)).lines == ()
    reader.look(picture(BLUE))
    [warning] = reader.warnings()
    assert warning.startswith("the words in 2 pictures were not read") and "ragweave[images]" in warning
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    from ragweave.models.settings import model_settings

    model_settings.cache_clear()
    assert "RAGWEAVE_OCR is off" in reader.warnings()[0]


def test_when_time_is_up_pictures_are_still_kept_but_not_read(painted, media, monkeypatch):
    reader = PictureReader(media, 10)
    now = 100.0
    monkeypatch.setattr(module.time, "process_time", lambda: now)
    assert reader.look(picture(RED)).lines
    now = 111.0
    assert reader.look(picture(GREEN)).lines == ()
    assert reader.warnings() == [
        "the words in one picture were not read: reading them takes longer than 10 seconds of the processor "
        "(RAGWEAVE_PARSE_SECONDS)"
    ]


def test_an_engine_that_fails_costs_one_picture(painted, media, monkeypatch):
    def broken(image):
        raise RuntimeError("bad allocation")

    monkeypatch.setattr(painted, "lines", broken)
    reader = PictureReader(media, 60)
    assert reader.look(picture(RED)).lines == ()
    assert reader.warnings() == ["the words of a picture could not be read"]


def test_no_more_pictures_are_looked_at_than_the_limit(painted, media, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    reader = PictureReader(media, 60)
    found = [reader.look(picture((n * 40, 90, 90))) for n in range(4)]
    assert [f is not None for f in found] == [True, True, False, False]
    assert reader.warnings() == ["only the first 2 pictures were looked at (2 pictures)"]
