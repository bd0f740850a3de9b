"""Folder of an encoder: model, tokenizer, configuration (``encoder.json``, optional) and the hash of all three."""

import hashlib
import os
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from domain.errors import UsageError
from domain.model import Model, what_is_wrong

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
FORM_FILE = "encoder.json"


class EncoderForm(Model):
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


def keep_use_private() -> None:
    """Turn off the usage reports of onnxruntime (1.29 and newer); call this before it is imported."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def read_form(folder: Path) -> EncoderForm:
    """Read the configuration of the encoder in ``folder``; defaults where there is no file.

    Raises:
        UsageError: the file cannot be read or is invalid.
    """
    file = folder / FORM_FILE
    try:
        return EncoderForm.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return EncoderForm()
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror}); export the encoder anew") from error
    except ValidationError as error:
        raise UsageError(f"{file} cannot be used ({what_is_wrong(error)}); export the encoder anew") from error


def write_form(form: EncoderForm, folder: Path) -> None:
    """Write the configuration into ``folder``; no file is kept for the defaults."""
    if form == EncoderForm():
        (folder / FORM_FILE).unlink(missing_ok=True)
    else:
        (folder / FORM_FILE).write_text(form.model_dump_json(indent=2) + "\n", encoding="utf-8")


def hash_of(folder: Path) -> str:
    """Return the SHA-256 that identifies an exported encoder: model, tokenizer and, if there is one, configuration.

    Raises:
        OSError: the files are missing or unreadable.
    """
    told = hashlib.sha256((folder / MODEL_FILE).read_bytes())
    told.update((folder / TOKENIZER_FILE).read_bytes())
    if (folder / FORM_FILE).exists():
        told.update((folder / FORM_FILE).read_bytes())
    return told.hexdigest()
