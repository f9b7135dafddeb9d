"""Settings of the stores and of ingestion: places and limits."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal
from urllib.parse import parse_qsl

from pydantic import Field, SecretStr, field_validator

from ragweave.models.settings import Settings, model_settings, read_settings


class CorporaSettings(Settings):
    """Settings of the stores and of ingestion, read from `RAGWEAVE_*` variables and `.env`."""

    database_url: SecretStr = Field(
        SecretStr(""),
        description=(
            "PostgreSQL for catalogs, words, vectors, conversations and keys, as "
            "`postgresql://USER:PASSWORD@HOST/NAME`; empty keeps them under HOME."
        ),
    )
    media_url: str = Field(
        "",
        pattern="^([a-z0-9]+://.+)?$",
        description="Object store for media and uploads, as `s3://BUCKET/NAME`; empty keeps them under HOME.",
    )
    chroma_url: str = Field(
        "",
        pattern="^(https?://.+)?$",
        description=(
            "Address of a Chroma server for the indexes of vectors, with `?tenant=NAME&database=NAME` where "
            "they are not its default ones; empty keeps them under HOME."
        ),
    )
    chroma_token: SecretStr = Field(SecretStr(""), description="Key that the Chroma server asks for.")
    ray: str = Field(
        "",
        description=(
            "Ray cluster whose nodes read files: `auto`, `HOST:PORT` or `local`; empty: this process. Each "
            "actor takes a CPU and no GPU, or what `auto?cpus=2&gpus=0.25` says."
        ),
    )
    parse_workers: int = Field(
        0, ge=0, le=64, description="Processes that read files; 0 leaves one core free."
    )
    parse_seconds: float = Field(
        120.0,
        gt=0,
        description=(
            "Seconds of processor to read one file, five times as many for its pictures; by the clock five "
            "times as long."
        ),
    )
    parse_memory_mb: int = Field(2048, ge=256, description="Memory one reading process may use, in MiB.")
    parse_output_mb: ClassVar[int] = 256
    """Most that one file may turn into, in MiB."""
    max_file_mb: int = Field(512, ge=1, description="Largest file that is read, in MiB.")
    max_video_gb: ClassVar[int] = 64
    """Largest video or recording that is taken in, in GiB."""
    entities: Literal["llm", "off"] = Field(
        "off", description="Whether the chat model finds the entities of recordings at indexing (VideoRAG)."
    )
    index_calls: int = Field(
        0,
        ge=0,
        description=(
            "Most model calls of one `ragweave index`, for captions and entities together; 0: no limit."
        ),
    )
    web_folder: Path | None = Field(
        None, description="Folder of pages (.html, .md, .txt) that stands in for the web."
    )
    web_searx_url: str = Field(
        "",
        pattern="^(https?://.*)?$",
        description="Base address of a SearxNG server; may be on this machine.",
    )
    web_open: bool = Field(
        True,
        description="Whether the pages that SearxNG names are opened and read; false: their snippets alone.",
    )
    tavily_key: SecretStr = Field(SecretStr(""), description="Key of Tavily.")
    lock_wait: ClassVar[float] = 600.0
    """Seconds a second writer waits for the first one."""

    @field_validator("database_url", mode="after")
    @classmethod
    def _postgres(cls, value: SecretStr) -> SecretStr:
        address = with_driver(value.get_secret_value())
        if address and not address.startswith(DRIVER):
            raise ValueError("must start with postgresql://")
        return SecretStr(address)

    @field_validator("ray", mode="after")
    @classmethod
    def _shares(cls, value: str) -> str:
        shares = _query(value, ("cpus", "gpus"))
        try:
            usable = float(shares.get("cpus", 1)) > 0 and float(shares.get("gpus", 0)) >= 0
        except ValueError:
            usable = False
        if not usable:
            raise ValueError("must say more than 0 cpus and a number of gpus, as auto?cpus=2&gpus=0.25")
        return value

    @field_validator("chroma_url", mode="after")
    @classmethod
    def _place(cls, value: str) -> str:
        _query(value, ("tenant", "database"))
        return value

    @property
    def ray_address(self) -> str:
        """Address of the Ray cluster, or ""."""
        return self.ray.partition("?")[0]

    @property
    def ray_shares(self) -> tuple[float, float]:
        """CPUs and GPUs of the Ray cluster for each actor."""
        shares = _query(self.ray, ("cpus", "gpus"))
        return float(shares.get("cpus", 1)), float(shares.get("gpus", 0))

    @property
    def chroma(self) -> tuple[str, str, str]:
        """Address of the Chroma server, or "", its tenant and its database."""
        named = _query(self.chroma_url, ("tenant", "database"))
        tenant, database = named.get("tenant", "default_tenant"), named.get("database", "default_database")
        return self.chroma_url.partition("?")[0].rstrip("/"), tenant, database

    @property
    def database(self) -> str:
        """Address of the PostgreSQL server, or ""."""
        return self.database_url.get_secret_value()

    @property
    def ocr_seconds(self) -> float:
        """Seconds of the processor that the words in the pictures of one file may take to be read."""
        return 5 * self.parse_seconds

    @property
    def home(self) -> Path:
        """Folder that holds every library: the catalog, the vectors and the locks."""
        return model_settings().home


DRIVER = "postgresql+psycopg://"
"""How SQLAlchemy begins the address of a database that psycopg reads."""


def with_driver(address: str) -> str:
    """Return the address of a PostgreSQL database, as providers write it, with the driver that reads it."""
    for scheme in ("postgres://", "postgresql://"):
        if address.startswith(scheme):
            return DRIVER + address.removeprefix(scheme)
    return address


def _query(address: str, known: Collection[str]) -> dict[str, str]:
    """Return what follows `?` in an address; a ValueError if it names something else than is known."""
    named = dict(parse_qsl(address.partition("?")[2]))
    unknown = sorted(named.keys() - {*known})
    if unknown:
        raise ValueError(f"says {unknown[0]}, which is none of {', '.join(known)}")
    return named


@lru_cache(maxsize=1)
def corpora_settings() -> CorporaSettings:
    """Return the settings of this process, read once.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    return read_settings(CorporaSettings)
