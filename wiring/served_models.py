"""Language models that runs ask: those that administrators have put online, and those of the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.llm.client.chat import ChatModel
from agent.llm.client.gone import GoneModel
from agent.llm.policy import LlmPolicy
from agent.llm.structured_output import Account
from agent.policy.by_purpose import PolicyByPurpose
from agent.policy.circuit_breaker import Breaker
from agent.policy.fallback import FallbackPolicy
from agent.policy.protocol import Policy
from agent.programs.protocol import ProgramForm
from domain.model_service import ModelService, Purpose
from offline.planning_time import TimedPlanning
from offline.policy import OfflinePolicy
from wiring.model_catalogue import asked_for, models_on_line
from wiring.model_services import service_parameters
from wiring.models import SharedModel, allowance_of
from wiring.settings import Settings, model_names

_OF_RUNS: tuple[Purpose, ...] = ("decisions", "programs", "answers", "responses")
_NONE = "no language model is on line"


@dataclass(frozen=True, slots=True)
class ServiceWithKey:
    """A service with its key."""

    service: ModelService
    key: str | None
    """None where the key cannot be opened, as ``trouble`` says."""
    trouble: str = ""


class ServedModels:
    """Models of one process. ``of_settings`` returns a model of the settings by its name; its owner closes it."""

    def __init__(self, settings: Settings, of_settings: Callable[[str], SharedModel]) -> None:
        self._settings = settings
        self._of_settings = of_settings
        self._services: Sequence[ModelService] = ()
        self._chosen: Mapping[Purpose, str] = {}
        self._trouble: dict[str, str] = {}
        self._shared: dict[str, tuple[tuple[int, str], SharedModel]] = {}
        self._retired: list[SharedModel] = []

    def known(self, service: ModelService) -> bool:
        """Return whether the service is open as it is now, so that its key need not be read."""
        held = self._shared.get(service.id)
        return held is not None and held[0] == _state(service)

    async def take(
        self, services: Sequence[ModelService], chosen: Mapping[Purpose, str], news: Sequence[ServiceWithKey]
    ) -> None:
        """Use these services from now on. ``news``: online ones that are not open yet.

        Models that runs still ask are closed when these have ended.
        """
        there = {one.id for one in models_on_line(services)}
        changed = {one.service.id for one in news}
        for service_id in [one for one in self._shared if one not in there or one in changed]:
            self._retired.append(self._shared.pop(service_id)[1])
        self._trouble = {one: why for one, why in self._trouble.items() if one in there and one not in changed}
        for one in news:
            if one.key is None:
                self._trouble[one.service.id] = one.trouble
            else:
                self._shared[one.service.id] = _state(one.service), self._made(one.service, one.key)
        self._services, self._chosen = services, chosen
        done = [one for one in self._retired if not one.in_use]
        self._retired = [one for one in self._retired if one.in_use]
        for one in done:
            await one.model.close()

    def policy(self, name: str = "", planning: TimedPlanning | None = None) -> Policy:
        """Create the policy of one run. ``name``: the model that its user has chosen for all of it.

        A chosen model that is gone is not asked any more, and no other one in its place.
        """
        if name:
            return self._policy_named(name, planning)
        asked = {purpose: asked_for(purpose, self._services, self._chosen, self._settings) for purpose in _OF_RUNS}
        account, made = Account(), dict[str, FallbackPolicy]()
        parts: list[Policy] = []
        for purpose in _OF_RUNS:
            found = asked[purpose]
            key = found.id if isinstance(found, ModelService) else found or ""
            if key not in made:
                made[key] = self._part(found, account, planning)
            parts.append(made[key])
        return parts[0] if len(made) == 1 else PolicyByPurpose(*parts)

    def chat(self, purpose: Purpose) -> tuple[ChatModel, float] | None:
        """Return the model for a purpose outside of runs, with the time limit of its answers in seconds.

        None where there is none.
        """
        found = asked_for(purpose, self._services, self._chosen, self._settings)
        if found is None:
            return None
        if isinstance(found, str):
            return self._of_settings(found).model, self._settings.model_timeout
        held = self._shared.get(found.id)
        model = GoneModel(found.name, self._trouble.get(found.id, _NONE)) if held is None else held[1].model
        return model, found.parameters.timeout

    async def close(self) -> None:
        """Close all models except those of the settings."""
        for shared in [*self._retired, *(held[1] for held in self._shared.values())]:
            await shared.model.close()
        self._shared, self._retired = {}, []

    def _policy_named(self, name: str, planning: TimedPlanning | None) -> Policy:
        found = next((one for one in models_on_line(self._services) if one.name == name), None)
        if found is not None:
            return self._part(found, Account(), planning)
        if name in model_names(self._settings):
            return self._part(name, Account(), planning)
        return self._gone(name, f"{name}, which was chosen for this run, is not on line any more", Account(), planning)

    def _part(
        self, found: ModelService | str | None, account: Account, planning: TimedPlanning | None
    ) -> FallbackPolicy:
        if found is None:
            return self._gone("", _NONE, account, planning)
        if isinstance(found, str):
            return self._of_settings(found).policy(account, planning)
        held = self._shared.get(found.id)
        if held is None:
            return self._gone(found.name, self._trouble.get(found.id, _NONE), account, planning)
        return held[1].policy(account, planning)

    def _gone(self, name: str, why: str, account: Account, planning: TimedPlanning | None) -> FallbackPolicy:
        first = LlmPolicy(GoneModel(name, why), allowance_of(self._settings), account=account)
        return FallbackPolicy(first, OfflinePolicy(planning=planning), Breaker())

    def _made(self, service: ModelService, key: str) -> SharedModel:
        prices = (service.price_prompt, service.price_completion)
        return SharedModel(
            self._settings,
            form=_form(service, self._settings),
            parameters=service_parameters(self._settings, service, key),
            prices=None if prices[0] is None or prices[1] is None else (prices[0], prices[1]),
        )


def _state(service: ModelService) -> tuple[int, str]:
    """Return a value that changes when the service has to be called in another way."""
    return service.version, (service.tested and service.tested.program_form) or ""


def _form(service: ModelService, settings: Settings) -> ProgramForm:
    """Return the form of the model's programs: as the settings say, else as its test has found."""
    if settings.program_form != "auto":
        return settings.program_form
    return (service.tested and service.tested.program_form) or "code"
