"""An encoder's folder: its model and tokenizer, how they are used (``encoder.json``; without that file as the bundled ones), and what names them."""

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
    """``pooling``: a text's vector is the mean of its tokens, or the state of its first one. ``query_prefix``: stands before requests.

    ``query_tokens`` and ``document_tokens``: where a request, its prefix included, and a tool's document are cut.
    """

    dimension: int = Field(default=384, ge=1)
    pooling: Literal["mean", "cls"] = "mean"
    query_prefix: str = ""
    query_tokens: int = Field(default=128, ge=8, le=2048)
    document_tokens: int = Field(default=96, ge=8, le=2048)


def keep_use_private() -> None:
    """Before onnxruntime is imported: since 1.29 it reports its use to its maker, unless the environment refuses that."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def read_form(folder: Path) -> EncoderForm:
    """The form of the encoder in ``folder``. ``UsageError``: its file cannot be used."""
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
    """Put it beside the model; one that goes without saying is left out."""
    if form == EncoderForm():
        (folder / FORM_FILE).unlink(missing_ok=True)
    else:
        (folder / FORM_FILE).write_text(form.model_dump_json(indent=2) + "\n", encoding="utf-8")


def hash_of(folder: Path) -> str:
    """What names an exported encoder: SHA-256 of model, tokenizer and, where there is one, form, one after the other. ``OSError``: it is not there."""
    told = hashlib.sha256((folder / MODEL_FILE).read_bytes())
    told.update((folder / TOKENIZER_FILE).read_bytes())
    if (folder / FORM_FILE).exists():
        told.update((folder / FORM_FILE).read_bytes())
    return told.hexdigest()
