"""The language models that runs may choose, by name; apart from what talks to them, which takes long to import."""

from wiring.settings import Settings


def model_names(settings: Settings) -> tuple[str, ...]:
    """The models that a run may choose, the usual one first; none where there is no endpoint."""
    names = [settings.model_name, *settings.model_names.split(",")]
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip())) if settings.model_url else ()
