"""Which language models there are, and which one is asked for what: those that administrators have set up, and that of the settings."""

from collections.abc import Mapping, Sequence

from domain.model_service import ModelService, Purpose
from wiring.settings import Settings, model_names


def models_on_line(services: Sequence[ModelService]) -> list[ModelService]:
    """Language models that runs may ask, in the order in which they came."""
    return [one for one in services if one.kind == "chat" and one.online]


def asked_for(
    purpose: Purpose, services: Sequence[ModelService], chosen: Mapping[Purpose, str], settings: Settings
) -> ModelService | str | None:
    """What is asked: the service that is chosen for the purpose, while it is on line; else the default, which is the one chosen for that, then the
    settings' model (its name), then the first service on line. None: there is none.
    """
    there = {one.id: one for one in models_on_line(services)}
    for wanted in (purpose, "default"):
        if (found := there.get(chosen.get(wanted, ""))) is not None:
            return found
    named = model_names(settings)
    return named[0] if named else next(iter(there.values()), None)
