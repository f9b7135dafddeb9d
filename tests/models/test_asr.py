"""Engines that write down speech: which one a setting names, what Whisper is asked, servers and downloads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.corpora.types import SURE
from ragweave.models import asr as module
from ragweave.models import vad
from ragweave.models.asr import asr, why_none
from ragweave.models.asr_api import TranscriptionServer
from ragweave.models.asr_whisper import Whisper
from ragweave.models.errors import InputError, ModelError, WeightsError
from ragweave.models.offers import WHISPER_ENGLISH, WHISPER_OTHERS, Offer
from ragweave.models.speech import Transcript
from ragweave.models.vad import FRAME, PAUSE, RATE, Stretch, stretches, windows
from ragweave.tests.support.hub import ScriptedHub

SOUND = np.zeros(RATE * 2, np.int16)


def test_a_setting_names_the_engine(put: Any) -> None:
    assert isinstance(asr("whisper:tiny"), Whisper)
    assert asr("off") is None
    put(asr="off")
    assert why_none() == ("RAGWEAVE_ASR is off", "unset it")


def lay(home: Path, *offers: Offer) -> None:
    """Put files where downloaded models lie."""
    for offer in offers:
        folder = (
            home / "models" / "hub" / f"models--{offer.name.replace('/', '--')}" / "snapshots" / offer.commit
        )
        folder.mkdir(parents=True)
        for name in offer.sha256:
            (folder / name).write_bytes(b"x")


def test_without_a_setting_what_was_downloaded_hears_and_one_sentence_says_that_nothing_was(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asr() is None and "`ragweave setup speech`" in why_none()[1]
    lay(home, WHISPER_ENGLISH)
    one = asr()
    assert one is not None and one.name == f"whisper {WHISPER_ENGLISH.name}@{WHISPER_ENGLISH.commit}"
    lay(home, WHISPER_OTHERS)
    two = asr()
    assert two is not None and two.name == f"{one.name}+{WHISPER_OTHERS.name}@{WHISPER_OTHERS.commit}"
    assert why_none() == ("", "")
    monkeypatch.setattr(module, "installed", lambda: False)
    assert asr() is None and "'ragweave[video]'" in why_none()[1]


@pytest.mark.parametrize(
    "name", ["whisper:", "vosk:small", "whisper", "pocketsphinx", "api:m", "whisper:a+b+c", "whisper:a+"]
)
def test_an_unknown_engine_and_a_server_without_address_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="RAGWEAVE_ASR"):
        asr(name)


@pytest.fixture
def server(json_server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.0)
    return json_server


def test_an_endpoint_gives_words_with_times_and_half_of_a_character_is_replaced(server: Any) -> None:
    words = [{"word": "Hello", "start": 0.1, "end": 0.5}, {"word": "there\ud83d", "start": 0.6, "end": 1.0}]
    reply = {
        "text": " Hello there\ud83d ",
        "words": words,
        "segments": [{"avg_logprob": -0.1}],
        "language": "en",
    }
    server.replies = [(503, {}), (200, reply)]
    heard = TranscriptionServer("whisper-1", server.url).transcribe(SOUND)
    assert (heard.text, heard.language, heard.confidence) == ("Hello there?", "en", 0.942)
    assert [(w.text, w.start, w.end) for w in heard.words] == [("Hello", 0.1, 0.5), ("there?", 0.6, 1.0)]
    assert all(part in server.asked[1][2] for part in (b"RIFF", b"verbose_json", b"whisper-1"))


def test_a_server_that_knows_no_times_of_words_is_asked_for_the_words_alone(server: Any) -> None:
    server.replies = [
        (400, {"error": "unknown response_format"}),
        (200, {"text": "Hello"}),
        (200, {"text": "again"}),
    ]
    found = TranscriptionServer("m", server.url)
    assert (found.transcribe(SOUND).text, found.transcribe(SOUND).text) == ("Hello", "again")
    assert [b"verbose_json" in body for *_, body in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    "reply",
    [
        [],
        {"text": 5},
        {},
        {"text": "x", "words": [{"word": "x", "start": "a"}, 3], "segments": True},
        {"text": "x", "words": 5, "language": {"deep": "en"}},
        {
            "text": "x",
            "words": [{"word": "x", "start": 10**400, "end": 1}],
            "segments": [{"avg_logprob": -(10**400)}],
        },
    ],
)
def test_strange_replies_are_read_without_harm(server: Any, reply: Any) -> None:
    server.replies = [(200, reply)]
    try:
        assert TranscriptionServer("m", server.url).transcribe(SOUND).words == ()
    except ModelError as error:
        assert "cannot be reached" in str(error)


def test_what_an_endpoint_lacks_is_told_before_the_work_starts(server: Any, put: Any) -> None:
    server.key = "right"
    TranscriptionServer("m", server.url, "right").check()
    with pytest.raises(ModelError, match="RAGWEAVE_ASR_KEY"):
        TranscriptionServer("m", server.url, "wrong").check()
    with pytest.raises(ModelError, match="RAGWEAVE_ASR_URL"):
        TranscriptionServer("m", "http://127.0.0.1:1/v1").check()
    put(offline="true")
    with pytest.raises(ModelError, match="RAGWEAVE_OFFLINE"):
        TranscriptionServer("m", "https://speech.example/v1").check()


def test_a_whisper_model_that_cannot_be_had_is_told(
    tmp_path: Path, put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.bin").write_bytes(b"not a model")
    with pytest.raises(WeightsError, match="CTranslate2"):
        Whisper(str(tmp_path)).check()
    with ScriptedHub({"config.json": b"{}"}) as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setattr("huggingface_hub.hf_api.ENDPOINT", hub.url, raising=False)
        with pytest.raises(WeightsError, match="whisper model owner/none"):
            Whisper("owner/none").check()
    put(offline="true")
    with pytest.raises(WeightsError, match="RAGWEAVE_OFFLINE"):
        Whisper("tiny").check()


@pytest.mark.parametrize("torn", [False, True])
def test_of_an_offered_model_other_files_than_the_stated_ones_are_never_opened(
    torn: bool, home: Path, put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if torn:
        lay(home, WHISPER_OTHERS)
        with pytest.raises(WeightsError, match=r"does not have the sha256 .* Ragweave states.*setup speech"):
            Whisper("base").check()
        assert asr() is None, "the wrong file is gone"
    with ScriptedHub(dict.fromkeys(WHISPER_OTHERS.sha256, b"other"), WHISPER_OTHERS.name) as hub:
        hub.commit = WHISPER_OTHERS.commit
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        with pytest.raises(WeightsError, match="does not have the sha256"):
            Whisper(f"{WHISPER_OTHERS.name}@{WHISPER_OTHERS.commit}").check()
    put(offline="true")
    with pytest.raises(WeightsError, match="RAGWEAVE_OFFLINE"):
        Whisper("base").check()


def segment(text: str, silence: float = 0.1, logprob: float = -0.2, sure: float = 0.95) -> SimpleNamespace:
    """A segment as faster-whisper returns it."""
    words = [SimpleNamespace(word=f" {w}", start=0.0, end=0.4, probability=sure) for w in text.split()]
    return SimpleNamespace(text=f" {text}", words=words, no_speech_prob=silence, avg_logprob=logprob)


class Model:
    """Plays a Whisper model: says its segments, and hears a language with a probability."""

    def __init__(
        self, *segments: SimpleNamespace, only: str = "", hears: tuple[str, float] = ("en", 0.9)
    ) -> None:
        self.segments, self.hears = segments, hears
        self.supported_languages = [only] if only else ["de", "en", "fr"]
        self.languages: list[str] = []

    def transcribe(self, sound: np.ndarray, **options: Any) -> tuple[list[SimpleNamespace], None]:
        assert sound.dtype == np.float32 and options["word_timestamps"]
        self.languages.append(options["language"])
        return [*self.segments], None

    def detect_language(self, sound: np.ndarray) -> tuple[str, float, list[tuple[str, float]]]:
        return *self.hears, [self.hears]


class LacksLibrary(Model):
    """Plays a Whisper model on a GPU for which CTranslate2 finds no cuBLAS."""

    def transcribe(self, sound: np.ndarray, **options: Any) -> tuple[list[SimpleNamespace], None]:
        raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")


@pytest.fixture
def without_cublas(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Play a machine with a GPU and without cuBLAS; collect the devices on which models are opened."""
    devices: list[str] = []

    def opened(name: str, *, device: str, **_: Any) -> Model:
        devices.append(device)
        return LacksLibrary() if device == "cuda" else Model(segment("Hello there."))

    monkeypatch.setitem(sys.modules, "ctranslate2", SimpleNamespace(get_cuda_device_count=lambda: 1))
    monkeypatch.setitem(sys.modules, "faster_whisper", SimpleNamespace(WhisperModel=opened))
    return devices


def test_where_a_gpu_lacks_its_libraries_whisper_takes_the_cpu_and_says_why(
    without_cublas: list[str], put: Any, caplog: pytest.LogCaptureFixture
) -> None:
    put(device="auto")
    Whisper("tiny").check()
    assert without_cublas == ["cuda", "cpu"]
    assert "on the CPU" in caplog.text and "libcublas.so.12" in caplog.text


def test_a_gpu_that_is_named_and_lacks_its_libraries_is_refused_with_a_remedy(
    without_cublas: list[str], put: Any
) -> None:
    put(device="cuda")
    with pytest.raises(ModelError, match=r"on cuda: Library libcublas.so.12 .*RAGWEAVE_DEVICE to cpu"):
        Whisper("tiny").check()
    assert without_cublas == ["cuda"]


def hearing(*models: Model) -> Whisper:
    found = Whisper("x")
    found._models = [*models]
    return found


def test_whisper_leaves_out_stories_told_to_music() -> None:
    model = Model(segment("Hello there."), segment("Thanks for watching", 0.95, -1.2), only="en")
    heard = hearing(model).transcribe(SOUND)
    assert (heard.text, heard.language, [w.text for w in heard.words]) == (
        "Hello there.",
        "en",
        ["Hello", "there."],
    )
    assert hearing(Model(segment("Thanks", 0.95, -1.2))).transcribe(SOUND) == Transcript()


@pytest.mark.parametrize(
    ("logprob", "sure", "doubtful"),
    [(-0.3, 0.95, False), (-0.9, 0.95, True), (-0.3, 0.3, True), (-0.5, 0.8, False)],
)
def test_words_are_in_doubt_where_their_segment_or_they_themselves_are_unlikely(
    logprob: float, sure: float, doubtful: bool
) -> None:
    heard = hearing(Model(segment("one two", 0.1, logprob, sure))).transcribe(SOUND)
    assert (heard.confidence < SURE) == doubtful
    assert heard.confidence == pytest.approx(heard.words[0].confidence)


@pytest.mark.parametrize(
    ("before", "hears", "sure", "by"),
    [
        ("", ("en", 0.9), 0.95, "english"),
        ("", ("de", 0.6), 0.95, "others"),
        ("en", ("de", 0.95), 0.95, "english"),
        ("en", ("de", 0.95), 0.2, "others"),
        ("en", ("de", 0.5), 0.2, "english"),
        ("de", ("de", 0.95), 0.95, "others"),
        ("de", ("en", 0.95), 0.95, "english"),
        ("de", ("en", 0.5), 0.95, "others"),
    ],
)
def test_a_window_is_heard_by_the_model_for_its_language(
    before: str, hears: tuple[str, float], sure: float, by: str
) -> None:
    english = Model(segment("english", sure=sure), only="en")
    others = Model(segment("others"), hears=hears)
    heard = hearing(english, others).transcribe(SOUND, before)
    assert (heard.text, heard.language) == (by, "en" if by == "english" else "de")
    assert len(english.languages) <= 1, "heard twice"


def test_one_model_of_all_languages_keeps_to_that_of_the_recording_unless_a_window_is_clear() -> None:
    model = Model(segment("text"), hears=("nn", 0.4))
    found = hearing(model)
    assert [found.transcribe(SOUND, before).language for before in ("", "fr")] == ["nn", "fr"]
    model.hears = ("de", 0.9)
    assert found.transcribe(SOUND, "fr").language == "de"


class ScriptedVad:
    """Says of each frame what its first sample is, in hundredths."""

    def __call__(self, sound: np.ndarray) -> np.ndarray:
        return sound.reshape(-1, FRAME)[:, 0] * 32768 / 100


def told(*runs: tuple[float, int]) -> vad.Sound:
    """Return sound whose frames have these odds: (seconds, hundredths)."""
    return np.concatenate([np.full(int(s * RATE) // FRAME * FRAME, odds, np.int16) for s, odds in runs])


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faster_whisper.vad.get_vad_model", ScriptedVad)


def seconds(found: list[vad.Stretch]) -> list[tuple[float, float]]:
    return [(round(s.start / RATE, 1), round(s.end / RATE, 1)) for s in found]


def test_stretches_are_speech_with_a_margin_and_short_pauses_inside(scripted: None) -> None:
    sound = told((1, 0), (2, 90), (0.2, 0), (1, 90), (2, 0), (1.5, 80), (1, 0))
    found = list(stretches([sound], 15))
    assert [t for s in seconds(found) for t in s] == pytest.approx([0.8, 4.4, 6.0, 7.8], abs=0.11)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0.1, 4), st.sampled_from([0, 20, 45, 60, 95])), min_size=1, max_size=8),
    st.integers(200, 40_000),
)
def test_how_the_sound_comes_in_blocks_changes_nothing(runs: list[tuple[float, int]], block: int) -> None:
    sound = told(*runs)

    def blocks() -> Iterator[vad.Sound]:
        for at in range(0, len(sound), block):
            yield sound[at : at + block]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faster_whisper.vad.get_vad_model", ScriptedVad)
        patch.setattr(vad, "_PORTION", 12 * RATE)
        whole, parts = list(stretches([sound], 5)), list(stretches(blocks(), 5))
    assert [(s.start, len(s.sound)) for s in parts] == [(s.start, len(s.sound)) for s in whole]
    assert all(np.array_equal(a.sound, b.sound) for a, b in zip(parts, whole, strict=True))
    assert all(np.array_equal(s.sound, sound[s.start : s.end]) for s in whole)
    assert all(len(s.sound) <= (5 + 0.5) * RATE for s in whole)


def test_silence_tones_and_noise_are_no_speech() -> None:
    time = np.arange(4 * RATE) / RATE
    rng = np.random.default_rng(3)
    for sound in (np.zeros(4 * RATE), np.sin(2 * np.pi * 440 * time) * 0.4, rng.normal(0, 0.1, 4 * RATE)):
        assert list(stretches([(sound * 32767).astype(np.int16)], 15)) == []


spoken = st.lists(st.tuples(st.integers(0, 5 * RATE), st.integers(1, 6 * RATE)), max_size=8)


@given(spoken)
def test_windows_hold_every_stretch_at_its_place_and_silence_between_them(
    pieces: list[tuple[int, int]],
) -> None:
    found, at = [], 0
    for gap, length in pieces:
        found.append(Stretch(at + gap, np.full(length, len(found) + 1, np.int16)))
        at += gap + length
    made = list(windows(found, 12.0))
    whole = np.zeros(at, np.int16)
    for window in made:
        assert len(window.sound) <= 12 * RATE
        whole[window.start : window.end] = window.sound
    for stretch in found:
        assert np.array_equal(whole[stretch.start : stretch.end], stretch.sound)
    assert np.count_nonzero(whole) == sum(len(s.sound) for s in found)
    for before, after in pairwise(made):
        joint = after.start + min(len(s.sound) for s in found if s.start == after.start) - before.start
        assert after.start - before.end > PAUSE * RATE or joint > 12 * RATE
    # What comes later changes only the last window.
    shorter = [(w.start, w.end) for w in windows(found[:-1], 12.0)]
    assert [(w.start, w.end) for w in made][: len(shorter) - 1] == shorter[:-1] or not shorter
