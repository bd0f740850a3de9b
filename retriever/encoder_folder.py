"""Folder of an exported encoder: model, tokenizer and, optionally, a configuration."""

import hashlib
import os
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from domain.errors import UsageError
from domain.model import Model, describe_errors

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "encoder.json"
"""Name of the configuration, which a folder with default settings lacks."""


class EncoderConfig(Model):
    """Configuration of an encoder; the defaults are those of the bundled one."""

    dimension: int = Field(default=384, ge=1)
    """Numbers in a vector."""
    pooling: Literal["mean", "cls"] = "mean"
    """Pooling of a text's vector: the mean of its tokens' states, or the state of its first token."""
    query_prefix: str = ""
    """Text that is put before requests."""
    query_tokens: int = Field(default=128, ge=8, le=2048)
    """Tokens after which a request, its prefix included, is cut."""
    document_tokens: int = Field(default=96, ge=8, le=2048)
    """Tokens after which a tool's document is cut."""


def disable_telemetry() -> None:
    """Turn off the usage reports of onnxruntime (1.29 and newer); call this before it is imported."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def read_encoder_config(folder: Path) -> EncoderConfig:
    """Read the configuration of the encoder in ``folder``; defaults where there is no file.

    Raises:
        UsageError: the file cannot be read or is invalid.
    """
    file = folder / CONFIG_FILE
    try:
        return EncoderConfig.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return EncoderConfig()
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror}); export the encoder anew") from error
    except ValidationError as error:
        raise UsageError(f"{file} cannot be used ({describe_errors(error)}); export the encoder anew") from error


def write_encoder_config(config: EncoderConfig, folder: Path) -> None:
    """Write the configuration into ``folder``; no file is kept for the defaults."""
    if config == EncoderConfig():
        (folder / CONFIG_FILE).unlink(missing_ok=True)
    else:
        (folder / CONFIG_FILE).write_text(config.model_dump_json(indent=2) + "\n", encoding="utf-8")


def hash_encoder(folder: Path) -> str:
    """Return the SHA-256 of an exported encoder's files, which identifies it.

    Raises:
        OSError: the files are missing or unreadable.
    """
    digest = hashlib.sha256((folder / MODEL_FILE).read_bytes())
    digest.update((folder / TOKENIZER_FILE).read_bytes())
    if (folder / CONFIG_FILE).exists():
        digest.update((folder / CONFIG_FILE).read_bytes())
    return digest.hexdigest()
