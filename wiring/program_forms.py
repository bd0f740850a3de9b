"""Forms in which models write programs, as ``check_model.py`` found out: a small file beside the store."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agent.programs.program_types import ProgramForm
from domain.errors import UsageError
from wiring.settings import Settings

_MAX_BYTES = 100_000


def get_forms_file(settings: Settings) -> Path:
    """Return the path of the file."""
    return settings.store.parent / "program_forms.json"


def read_forms(settings: Settings) -> Mapping[str, ProgramForm]:
    """Return the stored forms by endpoint and model; empty where there are none.

    Raises:
        UsageError: the file has other content.
    """
    file = get_forms_file(settings)
    if not file.is_file():
        return {}
    try:
        stored = json.loads(file.read_bytes()[:_MAX_BYTES])
    except ValueError:
        stored = None
    valid_forms = {"code", "grammar"}
    values = cast("dict[str, Any]", stored).values() if isinstance(stored, dict) else [None]
    if not all(isinstance(form, str) and form in valid_forms for form in values):
        raise UsageError(f"{file} cannot be read: delete it, and scripts/check_model.py makes it anew")
    return cast("dict[str, ProgramForm]", stored)


def get_form(settings: Settings, forms: Mapping[str, ProgramForm], model: str = "") -> ProgramForm:
    """Return the form for a model of the settings. ``model``: another one than the default."""
    if settings.program_form != "auto":
        return settings.program_form
    return forms.get(_build_key(settings, model or settings.model_name), "code")


def store_form(settings: Settings, form: ProgramForm) -> Path:
    """Store the form for the model of the settings; return the file."""
    file = get_forms_file(settings)
    forms = {**read_forms(settings), _build_key(settings, settings.model_name): form}
    file.parent.mkdir(parents=True, exist_ok=True)
    part_file = file.with_suffix(".new")
    part_file.write_text(json.dumps(forms, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    part_file.replace(file)
    return file


def store_new_form(settings: Settings, form: ProgramForm | None) -> Path | None:
    """Store the form where the settings leave it open and another one would be used.

    Return the file; None where nothing was stored.
    """
    if form is None or settings.program_form != "auto" or get_form(settings, read_forms(settings)) == form:
        return None
    return store_form(settings, form)


def _build_key(settings: Settings, model: str) -> str:
    return f"{settings.model_url.rstrip('/').removesuffix('/chat/completions')} {model}"
