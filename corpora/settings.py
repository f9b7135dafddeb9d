"""Where libraries live, and the limits under which files are read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragweave.models.read_settings import read_settings


class CorporaSettings(BaseSettings):
    """Settings of the stores and of ingestion, read from `RAGWEAVE_*` variables and `.env`."""

    model_config = SettingsConfigDict(env_prefix="RAGWEAVE_", env_file=".env", extra="ignore")

    home: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("ragweave", appauthor=False),
        description="Folder that holds every library: the catalog, the vectors and the locks.",
    )
    chroma_url: str = Field("", description="Address of a Chroma server; empty keeps the vectors under `home`.")
    parse_workers: int = Field(0, ge=0, le=64, description="Processes that read files; 0 leaves one core free.")
    parse_seconds: float = Field(120.0, gt=0, description="Longest time one file may take to be read.")
    ocr_seconds: float = Field(
        600.0, gt=0, description="Longest time that the words in the pictures of one file may take to be read."
    )
    parse_memory_mb: int = Field(2048, ge=256, description="Memory one reading process may use, in MiB.")
    parse_output_mb: int = Field(256, ge=1, description="Most that one file may turn into, in MiB.")
    max_file_mb: int = Field(512, ge=1, description="Largest file that is read, in MiB.")
    max_video_gb: int = Field(64, ge=1, description="Largest video or recording that is taken in, in GiB.")
    clip_seconds: float = Field(30.0, ge=5, le=600, description="Length of a clip of a recording, in seconds.")
    clip_frames: int = Field(15, ge=1, le=60, description="Frames of a clip that are looked at and kept.")
    entities: Literal["small", "llm", "off"] = Field(
        "small", description="Who finds the entities of recordings at indexing: rules, the chat model, or nobody."
    )
    summaries: Literal["small", "llm"] = Field(
        "small",
        description="Who sums up a whole video or sound file at indexing: rules, or the chat model in one call.",
    )
    gleanings: int = Field(0, ge=0, le=5, description="Times the chat model is asked what it missed in a chunk.")
    entity_corpora: tuple[Literal["clip", "paragraph"], ...] = Field(
        ("clip",), description="Corpora whose items are read for entities, as JSON."
    )
    caption_calls: int = Field(
        0, ge=0, description="Most calls of the vision model for captions that one `ragweave index` makes; 0: no limit."
    )
    lock_wait: float = Field(600.0, ge=0, description="Seconds a second writer waits for the first one.")

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()


@lru_cache(maxsize=1)
def corpora_settings() -> CorporaSettings:
    """Return the settings of this process, read once.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    return read_settings(CorporaSettings)
