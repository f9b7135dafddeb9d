"""Engines that write down speech: which one a setting names, the embedded one, servers and downloads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragweave.models import asr as module
from ragweave.models.asr import Word, asr
from ragweave.models.asr_api import TranscriptionServer
from ragweave.models.asr_sphinx import Sphinx, _started, believed
from ragweave.models.asr_whisper import Whisper
from ragweave.models.errors import InputError, ModelError, WeightsError
from ragweave.models.vad import RATE
from ragweave.tests.support.hub import ScriptedHub

SOUND = np.zeros(RATE * 2, np.int16)


def test_a_setting_names_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, label in (("pocketsphinx", "pocketsphinx"), ("auto", "pocketsphinx"), ("whisper:tiny", "whisper")):
        assert getattr(asr(name), "label", None) == label
    assert asr("off") is None
    monkeypatch.setattr(module, "embedded", lambda: False)
    assert asr("auto") is None, "without the extra"


@pytest.mark.parametrize("name", ["whisper:", "vosk:small", "whisper", "pocketsphinx:x", "api:m"])
def test_an_unknown_engine_and_a_server_without_address_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="RAGWEAVE_ASR"):
        asr(name)


def test_the_process_that_hears_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "sk-something")
    monkeypatch.setattr("subprocess.Popen", lambda *command, env, **more: env)
    assert "RAGWEAVE_CHAT_KEY" not in _started()


def test_the_embedded_engine_leaves_out_what_it_is_not_sure_of() -> None:
    def sure(confidences: list[float], speech: float) -> bool:
        return believed([Word(0, 1, "w", c) for c in confidences], speech)

    assert sure([0.35, 0.3], 0.7)
    assert not sure([0.1, 0.2, 0.2], 0.9), "it is speech, and not understood"
    assert not sure([0.6, 0.6], 0.5), "it is hardly speech"
    assert not sure([0.9], 0.9) and not sure([], 0.9)


def test_the_embedded_engine_hears_nothing_in_silence_survives_a_dead_process_and_ends_all_of_them() -> None:
    found = Sphinx(2)
    assert found.transcribe(SOUND).text == ""
    first, second = found._idle.get(), found._idle.get()
    assert first is not None and second is None
    first.kill()
    first.wait()
    second = _started()
    found._idle.put(second)
    found._idle.put(first)
    assert found.transcribe(SOUND).text == ""
    found.close()
    assert second.returncode is not None


@pytest.mark.data
def test_the_embedded_engine_understands_most_of_a_clear_sentence(data_dir: Path) -> None:
    from ragweave.corpora.video.listen import sound
    from ragweave.models.vad import stretches

    stretch = next(stretches(sound(str(data_dir / "audio" / "swc_softeng_intro.mp3"), "mp3", 0), 6.0))
    found = Sphinx()
    try:
        heard = found.transcribe(stretch.sound, stretch.speech)
    finally:
        found.close()
    assert {"welcome", "first", "episode"} <= set(heard.text.split())
    assert all(a.start < a.end <= b.start + 0.02 for a, b in zip(heard.words, heard.words[1:], strict=False))
    assert heard.words[-1].end <= len(stretch.sound) / RATE


@pytest.fixture
def server(json_server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.0)
    return json_server


def test_an_endpoint_gives_words_with_times_and_half_of_a_character_is_replaced(server: Any) -> None:
    words = [{"word": "Hello", "start": 0.1, "end": 0.5}, {"word": "there\ud83d", "start": 0.6, "end": 1.0}]
    reply = {"text": " Hello there\ud83d ", "words": words, "segments": [{"avg_logprob": -0.1}], "language": "en"}
    server.replies = [(503, {}), (200, reply)]
    heard = TranscriptionServer("whisper-1", server.url).transcribe(SOUND)
    assert (heard.text, heard.language, heard.confidence) == ("Hello there?", "en", 0.905)
    assert [(w.text, w.start, w.end) for w in heard.words] == [("Hello", 0.1, 0.5), ("there?", 0.6, 1.0)]
    assert all(part in server.asked[1][2] for part in (b"RIFF", b"verbose_json", b"whisper-1"))


def test_a_server_that_knows_no_times_of_words_is_asked_for_the_words_alone(server: Any) -> None:
    server.replies = [(400, {"error": "unknown response_format"}), (200, {"text": "Hello"}), (200, {"text": "again"})]
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
        {"text": "x", "words": [{"word": "x", "start": 10**400, "end": 1}], "segments": [{"avg_logprob": -(10**400)}]},
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


def test_a_whisper_model_that_cannot_be_had_is_told(tmp_path: Path, put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_whisper_leaves_out_stories_told_to_music() -> None:
    def segment(text: str, silence: float, sure: float) -> SimpleNamespace:
        words = [SimpleNamespace(word=f" {w}", start=0.0, end=0.4, probability=0.8) for w in text.split()]
        return SimpleNamespace(text=text, start=0, end=1, words=words, no_speech_prob=silence, avg_logprob=sure)

    class Model:
        def transcribe(self, sound: np.ndarray, **options: Any) -> tuple[list[SimpleNamespace], SimpleNamespace]:
            assert sound.dtype == np.float32 and options["word_timestamps"]
            told = [segment("Hello there.", 0.1, -0.2), segment("Thanks for watching", 0.95, -1.2)]
            return told, SimpleNamespace(language="en")

    found = Whisper("x")
    found._model = Model()
    heard = found.transcribe(SOUND)
    assert (heard.text, heard.language, [w.text for w in heard.words]) == ("Hello there.", "en", ["Hello", "there."])
