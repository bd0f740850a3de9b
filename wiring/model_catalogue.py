"""Choice of a language model for each purpose, among administrators' services and the models of the settings."""

from collections.abc import Mapping, Sequence

from domain.model_service import ModelService, Purpose
from wiring.settings import Settings, model_names


def models_on_line(services: Sequence[ModelService]) -> list[ModelService]:
    """Return the language models that runs may ask, in the order in which they were added."""
    return [one for one in services if one.kind == "chat" and one.online]


def asked_for(
    purpose: Purpose, services: Sequence[ModelService], chosen: Mapping[Purpose, str], settings: Settings
) -> ModelService | str | None:
    """Return the model for a purpose: a service, or the name of a model of the settings; None: there is none.

    The first of these that there is: the online service chosen for the purpose, the one chosen as the default, the
    first model of the settings, the first online service.
    """
    there = {one.id: one for one in models_on_line(services)}
    for wanted in (purpose, "default"):
        if (found := there.get(chosen.get(wanted, ""))) is not None:
            return found
    named = model_names(settings)
    return named[0] if named else next(iter(there.values()), None)
