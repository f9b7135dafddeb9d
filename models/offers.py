"""What `ragweave setup` offers: the parts that a model makes better, and of each the models that are known to fit.

Names, sizes and licences of fastembed's models are those that fastembed lists. A commit and digests stand here where
they are known for certain; else the commit of the first download is written into the setting and held from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

PartName = Literal["chat", "encoder", "reranker", "pictures", "vision", "speech"]
PARTS: tuple[PartName, ...] = get_args(PartName)


@dataclass(frozen=True)
class ModelPart:
    """Something that a model does here, in a person's words."""

    title: str
    setting: str
    """Field of the settings that names its model; RAGWEAVE_ and the field in capitals is the variable."""
    brings: str
    """What a model of one's own changes."""
    without: str
    """What happens while none is set up."""
    after: str = ""
    """What is left to do once it is written."""

    @property
    def variable(self) -> str:
        """Variable that names its model."""
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
        "hears many languages, and English better",
        "pocketsphinx of the extra `video`, which hears English with one word in four wrong",
        "The next `ragweave index` hears again what nobody has surely heard.",
    ),
}


@dataclass(frozen=True)
class Offer:
    """A model that can be had: what a person is told of it, and where it comes from."""

    part: PartName
    source: Literal["fastembed", "whisper", "gguf", "ollama"]
    name: str
    """As the source calls it; of the hub its repository."""
    megabytes: int
    licence: str
    brings: str
    language: str = ""
    """The one that it reads; empty: many."""
    file: str = ""
    """Of a GGUF."""
    commit: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages that open it."""
        return {"fastembed": ("fastembed",), "whisper": ("faster_whisper",), "gguf": ("xllamacpp",), "ollama": ()}[
            self.source
        ]

    @property
    def extra(self) -> str:
        """Extra that brings the packages."""
        return {"fastembed": "fastembed", "whisper": "video", "gguf": "local", "ollama": ""}[self.source]


OFFERS: tuple[Offer, ...] = (
    Offer("chat", "ollama", "qwen3:4b-instruct", 2_500, "Apache-2.0", "Qwen3 4B, kept and served by Ollama"),
    Offer(
        "chat",
        "gguf",
        "Qwen/Qwen3-4B-GGUF",
        2_500,
        "Apache-2.0",
        "Qwen3 4B inside Ragweave's own process; each command loads it anew",
        file="Qwen3-4B-Q4_K_M.gguf",
    ),
    Offer("encoder", "fastembed", "BAAI/bge-small-en-v1.5", 67, "MIT", "English, small and quick", language="en"),
    Offer(
        "encoder",
        "fastembed",
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        220,
        "Apache-2.0",
        "fifty languages, and a question in another one than the text",
    ),
    Offer("reranker", "fastembed", "Xenova/ms-marco-MiniLM-L-6-v2", 80, "Apache-2.0", "English", language="en"),
    Offer("reranker", "fastembed", "BAAI/bge-reranker-v2-m3-int8", 570, "Apache-2.0", "a hundred languages; slower"),
    Offer("pictures", "fastembed", "Qdrant/clip-ViT-B-32-vision", 590, "MIT", "CLIP; questions in English"),
    Offer("vision", "ollama", "qwen3-vl:4b-instruct", 3_300, "Apache-2.0", "Qwen3-VL 4B, kept and served by Ollama"),
    Offer(
        "speech",
        "whisper",
        "Systran/faster-whisper-small",
        486,
        "MIT",
        "Whisper small",
        commit="536b0662742c02347bc0e980a01041f333bce120",
        sha256={
            "config.json": "b55496ac7940a7ae47d2c01eab40edfd8701feec1229d9cce3b40014383fb828",
            "model.bin": "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671",
            "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
        },
    ),
)


@dataclass(frozen=True)
class ChatProvider:
    """A provider of chat models that wants a key."""

    title: str
    prefix: str
    """Name of `init_chat_model`."""
    key: str
    """Variable that its own programs read."""
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
"""Where programs that serve models listen on 127.0.0.1 unless they are told otherwise."""

SLOW: Mapping[str, str] = {"RAGWEAVE_CHAT_TIMEOUT": "300", "RAGWEAVE_CHAT_WIDTH": "1"}
"""Written with a chat model that computes on this machine: it may have to be loaded, and reads one prompt at a time."""
