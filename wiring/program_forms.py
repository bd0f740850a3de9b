"""Forms in which models write programs, as ``check_model.py`` found out: a small file beside the store."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agent.programs.protocol import ProgramForm
from domain.errors import UsageError
from wiring.settings import Settings

_MOST_BYTES = 100_000


def forms_file(settings: Settings) -> Path:
    """Return the path of the file."""
    return settings.store.parent / "program_forms.json"


def kept_forms(settings: Settings) -> Mapping[str, ProgramForm]:
    """Return the stored forms by endpoint and model; empty where there are none.

    Raises:
        UsageError: the file has other content.
    """
    file = forms_file(settings)
    if not file.is_file():
        return {}
    try:
        held = json.loads(file.read_bytes()[:_MOST_BYTES])
    except ValueError:
        held = None
    known = {"code", "grammar"}
    values = cast("dict[str, Any]", held).values() if isinstance(held, dict) else [None]
    if not all(isinstance(one, str) and one in known for one in values):
        raise UsageError(f"{file} cannot be read: delete it, and scripts/check_model.py makes it anew")
    return cast("dict[str, ProgramForm]", held)


def form_for(settings: Settings, kept: Mapping[str, ProgramForm], model: str = "") -> ProgramForm:
    """Return the form for a model of the settings. ``model``: another one than the default."""
    if settings.program_form != "auto":
        return settings.program_form
    return kept.get(_key(settings, model or settings.model_name), "code")


def keep_form(settings: Settings, form: ProgramForm) -> Path:
    """Store the form for the model of the settings; return the file."""
    file = forms_file(settings)
    held = {**kept_forms(settings), _key(settings, settings.model_name): form}
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_suffix(".new")
    made.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    made.replace(file)
    return file


def keep_new_form(settings: Settings, form: ProgramForm | None) -> Path | None:
    """Store the form where the settings leave it open and another one would be used.

    Return the file; None where nothing was stored.
    """
    if form is None or settings.program_form != "auto" or form_for(settings, kept_forms(settings)) == form:
        return None
    return keep_form(settings, form)


def _key(settings: Settings, model: str) -> str:
    return f"{settings.model_url.rstrip('/').removesuffix('/chat/completions')} {model}"
