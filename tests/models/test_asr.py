"""Hearers: which one a setting names, the embedded one, and those behind servers and downloads."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


@pytest.mark.parametrize(
    ("name", "label"),
    [("pocketsphinx", "pocketsphinx"), ("auto", "pocketsphinx"), ("whisper:tiny", "whisper"), ("off", None)],
)
def test_a_setting_names_the_engine(name: str, label: str | None) -> None:
    found = asr(name)
    assert (found and found.label) == label


def test_auto_hears_nothing_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "embedded", lambda: False)
    assert asr("auto") is None


@pytest.mark.parametrize("name", ["whisper:", "vosk:small", "whisper", "nonsense"])
def test_an_unknown_engine_is_refused_with_the_known_forms(name: str) -> None:
    with pytest.raises(InputError, match="RAGWEAVE_ASR"):
        asr(name)


def test_the_process_that_hears_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "sk-something")
    monkeypatch.setattr("subprocess.Popen", lambda *command, env, **more: env)
    assert "RAGWEAVE_CHAT_KEY" not in _started()


def test_an_endpoint_needs_an_address() -> None:
    with pytest.raises(InputError, match="RAGWEAVE_ASR_URL"):
        asr("api:whisper-1")


@pytest.mark.parametrize(
    ("confidences", "speech", "expected"),
    [
        ([0.6, 0.5, 0.7], 0.9, True),
        ([0.35, 0.3], 0.7, True),
        ([0.1, 0.2, 0.2], 0.9, False),  # it is speech, and not understood
        ([0.6, 0.6], 0.5, False),  # it is hardly speech
        ([0.9], 0.9, False),  # one word
        ([], 0.9, False),
    ],
)
def test_the_embedded_engine_leaves_out_what_it_is_not_sure_of(
    confidences: list[float], speech: float, expected: bool
) -> None:
    assert believed([Word(0, 1, "w", c) for c in confidences], speech) is expected


def test_the_embedded_engine_hears_nothing_in_silence_and_survives_the_death_of_its_process() -> None:
    found = Sphinx()
    try:
        assert found.transcribe(SOUND).text == ""
        process = found._idle.get()
        assert process is not None
        process.kill()
        process.wait()
        found._idle.put(process)
        assert found.transcribe(SOUND).text == ""
    finally:
        found.close()


def test_the_embedded_engine_ends_all_of_its_processes() -> None:
    found = Sphinx(2)
    processes = [_started(), _started()]
    assert [found._idle.get(), found._idle.get()] == [None, None]
    for process in processes:
        found._idle.put(process)
    found.close()
    assert all(p.returncode is not None for p in processes)


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


class Server:
    """A transcription server on loopback with scripted answers."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.replies: list[tuple[int, Any]] = []
        self.asked: list[bytes] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None: ...

            def do_GET(self) -> None:
                self._answer(200, {"data": []})

            def do_POST(self) -> None:
                outer.asked.append(self.rfile.read(int(self.headers["content-length"])))
                self._answer(*outer.replies.pop(0))

            def _answer(self, status: int, body: Any) -> None:
                if outer.key and self.headers.get("authorization") != f"Bearer {outer.key}":
                    status, body = 401, {"error": "no"}
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def test_an_endpoint_gives_words_with_times(server: Server) -> None:
    server.replies = [
        (
            200,
            {
                "text": " Hello there. ",
                "words": [{"word": "Hello", "start": 0.1, "end": 0.5}, {"word": "there.", "start": 0.6, "end": 1.0}],
                "segments": [{"avg_logprob": -0.1}],
                "language": "en",
            },
        )
    ]
    heard = TranscriptionServer("whisper-1", server.url).transcribe(SOUND)
    assert (heard.text, heard.language, heard.confidence) == ("Hello there.", "en", 0.905)
    assert [(w.text, w.start, w.end) for w in heard.words] == [("Hello", 0.1, 0.5), ("there.", 0.6, 1.0)]
    assert b"RIFF" in server.asked[0] and b"verbose_json" in server.asked[0] and b"whisper-1" in server.asked[0]


def test_a_server_that_knows_no_times_of_words_is_asked_for_the_words_alone(server: Server) -> None:
    server.replies = [(400, {"error": "unknown response_format"}), (200, {"text": "Hello"}), (200, {"text": "again"})]
    found = TranscriptionServer("m", server.url)
    assert (found.transcribe(SOUND).text, found.transcribe(SOUND).text) == ("Hello", "again")
    assert [b"verbose_json" in body for body in server.asked] == [True, False, False]


def test_a_busy_server_is_asked_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragweave.models.failures.time.sleep", lambda _: None)
    server.replies = [(503, {}), (429, {}), (200, {"text": "Hello"})]
    assert TranscriptionServer("m", server.url).transcribe(SOUND).text == "Hello"


@pytest.mark.parametrize(
    "reply",
    [
        [],
        {"text": 5},
        {"text": "x", "words": [{"word": "x", "start": "a"}, 3]},
        {},
        {"text": "x", "words": 5, "segments": True},
        {"text": "x", "words": [{"word": "x", "start": 10**400, "end": 1}], "segments": [{"avg_logprob": -(10**400)}]},
        {"text": "x", "language": {"deep": "en"}},
    ],
)
def test_strange_replies_are_read_without_harm(server: Server, reply: Any) -> None:
    server.replies = [(200, reply)] * 4
    try:
        heard = TranscriptionServer("m", server.url).transcribe(SOUND)
        assert heard.words == ()
    except ModelError as error:
        assert "cannot be reached" in str(error)


def test_half_of_a_character_is_replaced_so_that_what_was_heard_can_be_kept(server: Server) -> None:
    words = [{"word": "Hi", "start": 0.1, "end": 0.5}, {"word": "there\ud83d", "start": 0.6, "end": 1.0}]
    server.replies = [(200, {"text": "Hi there\ud83d", "words": words, "language": "\ud83de"})]
    heard = TranscriptionServer("m", server.url).transcribe(SOUND)
    assert (heard.text, heard.words[1].text, heard.language) == ("Hi there?", "there?", "")


def test_a_wrong_key_is_told_before_the_work_starts() -> None:
    server = Server(key="right")
    try:
        TranscriptionServer("m", server.url, "right").check()
        with pytest.raises(ModelError, match="RAGWEAVE_ASR_KEY"):
            TranscriptionServer("m", server.url, "wrong").check()
    finally:
        server.close()


def test_a_server_that_is_not_there_is_told_with_a_sentence() -> None:
    with pytest.raises(ModelError, match="RAGWEAVE_ASR_URL"):
        TranscriptionServer("m", "http://127.0.0.1:1/v1").check()


def test_offline_forbids_endpoints_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    with pytest.raises(ModelError, match="RAGWEAVE_OFFLINE"):
        TranscriptionServer("m", "https://speech.example/v1").check()


def test_a_whisper_model_that_the_hub_does_not_have_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedHub({"config.json": b"{}"}) as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setattr("huggingface_hub.hf_api.ENDPOINT", hub.url, raising=False)
        with pytest.raises(WeightsError, match="whisper model owner/none"):
            Whisper("owner/none").check()


def test_a_folder_that_is_no_whisper_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"not a model")
    with pytest.raises(WeightsError, match="CTranslate2"):
        Whisper(str(tmp_path)).check()


def test_whisper_offline_never_asks_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    with pytest.raises(WeightsError, match="RAGWEAVE_OFFLINE"):
        Whisper("tiny").check()


def test_whisper_leaves_out_stories_told_to_music() -> None:
    def segment(text: str, silence: float, sure: float) -> SimpleNamespace:
        words = [SimpleNamespace(word=f" {w}", start=n * 0.5, end=n * 0.5 + 0.4, probability=0.8) for n, w in
                 enumerate(text.split())]  # fmt: skip
        return SimpleNamespace(text=text, start=0, end=1, words=words, no_speech_prob=silence, avg_logprob=sure)

    class Model:
        def transcribe(self, sound: np.ndarray, **options: Any) -> tuple[list[SimpleNamespace], SimpleNamespace]:
            assert sound.dtype == np.float32 and options["word_timestamps"]
            return [segment("Hello there.", 0.1, -0.2), segment("Thanks for watching", 0.95, -1.2)], SimpleNamespace(
                language="en"
            )

    found = Whisper("x")
    found._model = Model()
    heard = found.transcribe(SOUND)
    assert (heard.text, heard.language) == ("Hello there.", "en")
    assert [w.text for w in heard.words] == ["Hello", "there."]
