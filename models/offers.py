"""List the parts that a model improves, and for each part the models that `ragweave setup` offers.

Names, sizes and licences of fastembed's models come from fastembed's list. An offer has a commit and digests
if they are verified. Otherwise the setting stores the commit of the first download and keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

PartName = Literal["chat", "encoder", "reranker", "pictures", "vision", "speech"]
PARTS: tuple[PartName, ...] = get_args(PartName)


@dataclass(frozen=True)
class ModelPart:
    """A part that a model can do, described for a user."""

    title: str
    setting: str
    """Settings field of its model; the variable is RAGWEAVE_ and the field in capitals."""
    brings: str
    """What the user's own model changes."""
    without: str
    """What happens while none is set up."""
    after: str = ""
    """What the user has to do after the setup."""

    @property
    def variable(self) -> str:
        """The variable that names its model."""
        return f"RAGWEAVE_{self.setting.upper()}"


TABLE: Mapping[PartName, ModelPart] = {
    "chat": ModelPart(
        "chat model",
        "chat",
        "writes answers, searches again while something is missing, and has each sentence checked",
        "none; questions are answered by quotes of the closest passages",
    ),
    "encoder": ModelPart(
        "text encoder",
        "embed",
        "finds passages that say it in other words",
        "wordllama, which ships; small, quick, and made for English",
    ),
    "reranker": ModelPart(
        "reranker",
        "rerank",
        "reads question and passage together, and puts the better passages first; a question takes longer",
        "the relevance head, which ships",
    ),
    "pictures": ModelPart(
        "image encoder",
        "image_text",
        "finds pictures and moments of videos by what they show",
        "none; pictures are found by the words about them and in them",
        "The next `ragweave index` looks at the pictures.",
    ),
    "vision": ModelPart(
        "vision model",
        "vision",
        "describes pictures when they are indexed",
        "none; pictures are not described",
        "The next `ragweave index` describes the pictures.",
    ),
    "speech": ModelPart(
        "speech",
        "asr",
        "writes down the speech in recordings that have no subtitles",
        "none; recordings are found by their subtitles, and by what their pictures show",
        "The next `ragweave index` hears every recording that has no subtitles.",
    ),
}


@dataclass(frozen=True)
class Offer:
    """A model that can be downloaded: its description for the user, and its source."""

    part: PartName
    source: Literal["fastembed", "whisper", "gguf", "ollama"]
    name: str
    """Its name at the source; for the hub its repository."""
    megabytes: int
    licence: str
    brings: str
    language: str = ""
    """The only language that it reads; empty: many."""
    file: str = ""
    """The file of a GGUF."""
    commit: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)
    companions: tuple[Offer, ...] = ()
    """Further models that are downloaded with it; `megabytes` counts them."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages that can open it."""
        return {
            "fastembed": ("fastembed",),
            "whisper": ("faster_whisper",),
            "gguf": ("xllamacpp",),
            "ollama": (),
        }[self.source]

    @property
    def extra(self) -> str:
        """Extra that installs the packages."""
        return {"fastembed": "fastembed", "whisper": "video", "gguf": "local", "ollama": ""}[self.source]


_MULTILINGUAL = {
    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
}
"""Files that the Whisper models of all languages share."""
WHISPER_ENGLISH = Offer(
    "speech",
    "whisper",
    "Systran/faster-whisper-tiny.en",
    78,
    "MIT",
    "Whisper tiny.en; English, small and quick",
    language="en",
    commit="0d3d19a32d3338f10357c0889762bd8d64bbdeba",
    sha256={
        "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
        "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
        "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
    },
)
WHISPER_OTHERS = Offer(
    "speech",
    "whisper",
    "Systran/faster-whisper-base",
    148,
    "MIT",
    "Whisper base; every language",
    commit="ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66",
    sha256={
        "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
        "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
        **_MULTILINGUAL,
    },
)
_BY_LANGUAGE = "Whisper tiny.en for English, and base for every other language, by the language that is heard"

OFFERS: tuple[Offer, ...] = (
    Offer("chat", "ollama", "qwen3:4b-instruct", 2_500, "Apache-2.0", "Qwen3 4B, kept and served by Ollama"),
    Offer(
        "chat",
        "gguf",
        "Qwen/Qwen3-4B-GGUF",
        2_500,
        "Apache-2.0",
        "Qwen3 4B inside Ragweave's own process; each command loads it again",
        file="Qwen3-4B-Q4_K_M.gguf",
    ),
    Offer(
        "encoder", "fastembed", "BAAI/bge-small-en-v1.5", 67, "MIT", "English, small and quick", language="en"
    ),
    Offer(
        "encoder",
        "fastembed",
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        220,
        "Apache-2.0",
        "fifty languages, and a question in another one than the text",
    ),
    Offer(
        "reranker", "fastembed", "Xenova/ms-marco-MiniLM-L-6-v2", 80, "Apache-2.0", "English", language="en"
    ),
    Offer(
        "reranker",
        "fastembed",
        "BAAI/bge-reranker-v2-m3-int8",
        570,
        "Apache-2.0",
        "a hundred languages; slower",
    ),
    Offer("pictures", "fastembed", "Qdrant/clip-ViT-B-32-vision", 590, "MIT", "CLIP; questions in English"),
    Offer(
        "vision",
        "ollama",
        "qwen3-vl:4b-instruct",
        3_300,
        "Apache-2.0",
        "Qwen3-VL 4B, kept and served by Ollama",
    ),
    replace(WHISPER_ENGLISH, megabytes=226, language="", brings=_BY_LANGUAGE, companions=(WHISPER_OTHERS,)),
    WHISPER_ENGLISH,
    WHISPER_OTHERS,
    Offer(
        "speech",
        "whisper",
        "Systran/faster-whisper-small",
        486,
        "MIT",
        "Whisper small; every language, better and slower",
        commit="536b0662742c02347bc0e980a01041f333bce120",
        sha256={
            "config.json": "b55496ac7940a7ae47d2c01eab40edfd8701feec1229d9cce3b40014383fb828",
            "model.bin": "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671",
            **_MULTILINGUAL,
        },
    ),
)


@dataclass(frozen=True)
class ChatProvider:
    """A provider of chat models that needs a key."""

    title: str
    prefix: str
    """Its name in `init_chat_model`."""
    key: str
    """The variable that its own programs read."""
    package: str
    model: str
    """One of its smaller models, to begin with."""


PROVIDERS: tuple[ChatProvider, ...] = (
    ChatProvider("OpenAI", "openai", "OPENAI_API_KEY", "langchain-openai", "gpt-4o-mini"),
    ChatProvider("Anthropic", "anthropic", "ANTHROPIC_API_KEY", "langchain-anthropic", "claude-haiku-4-5"),
    ChatProvider("Google", "google_genai", "GOOGLE_API_KEY", "langchain-google-genai", "gemini-2.5-flash"),
    ChatProvider("Mistral", "mistralai", "MISTRAL_API_KEY", "langchain-mistralai", "mistral-small-latest"),
)

SERVERS: Mapping[str, int] = {"Ollama": 11_434, "llama.cpp": 8_080, "LM Studio": 1_234, "vLLM": 8_000}
"""Default ports on 127.0.0.1 of programs that serve models."""

SLOW: Mapping[str, str] = {"RAGWEAVE_CHAT_TIMEOUT": "300", "RAGWEAVE_CHAT_WIDTH": "1"}
"""Settings for a chat model on this machine: it may load slowly, and reads one prompt at a time."""
