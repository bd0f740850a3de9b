"""Language models that runs ask: those that administrators have put online, and those of the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.llm.client.chat import ChatModel
from agent.llm.client.unavailable import UnavailableModel
from agent.llm.policy import LlmPolicy
from agent.llm.structured_output import ModelAccount
from agent.policy.circuit_breaker import CircuitBreaker
from agent.policy.delegating_policy import PolicyByPurpose
from agent.policy.fallback import FallbackPolicy
from agent.policy.protocol import Policy
from agent.programs.protocol import ProgramForm
from domain.model_service import ModelService, Purpose
from offline.planning_time import TimedPlanning
from offline.policy import OfflinePolicy
from wiring.model_services import build_service_parameters
from wiring.models import SharedModel, build_allowance
from wiring.settings import Settings, list_model_names


def list_online_models(services: Sequence[ModelService]) -> list[ModelService]:
    """Return the language models that runs may ask, in the order in which they were added."""
    return [one for one in services if one.kind == "chat" and one.online]


def select_model(
    purpose: Purpose, services: Sequence[ModelService], chosen: Mapping[Purpose, str], settings: Settings
) -> ModelService | str | None:
    """Return the model for a purpose: a service, or the name of a model of the settings; None: there is none.

    The first of these that there is: the online service chosen for the purpose, the one chosen as the default, the
    first model of the settings, the first online service.
    """
    online = {one.id: one for one in list_online_models(services)}
    for key in (purpose, "default"):
        if (service := online.get(chosen.get(key, ""))) is not None:
            return service
    names = list_model_names(settings)
    return names[0] if names else next(iter(online.values()), None)


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
    """Language models that the runs of one process may ask.

    ``of_settings`` returns a model of the settings by its name; whoever passed it closes those models.
    """

    def __init__(self, settings: Settings, of_settings: Callable[[str], SharedModel]) -> None:
        self._settings = settings
        self._of_settings = of_settings
        self._services: Sequence[ModelService] = ()
        self._chosen: Mapping[Purpose, str] = {}
        self._trouble: dict[str, str] = {}
        self._shared: dict[str, tuple[tuple[int, str], SharedModel]] = {}
        self._retired: list[SharedModel] = []

    def is_current(self, service: ModelService) -> bool:
        """Return whether the service is open as it is now, so that its key need not be read."""
        held = self._shared.get(service.id)
        return held is not None and held[0] == _get_version(service)

    async def update_models(
        self, services: Sequence[ModelService], chosen: Mapping[Purpose, str], news: Sequence[ServiceWithKey]
    ) -> None:
        """Use these services from now on. ``news``: online ones that are not open yet.

        Models that runs still ask are closed when these have ended.
        """
        online = {one.id for one in list_online_models(services)}
        changed = {one.service.id for one in news}
        for service_id in [one for one in self._shared if one not in online or one in changed]:
            self._retired.append(self._shared.pop(service_id)[1])
        self._trouble = {one: why for one, why in self._trouble.items() if one in online and one not in changed}
        for one in news:
            if one.key is None:
                self._trouble[one.service.id] = one.trouble
            else:
                self._shared[one.service.id] = (
                    _get_version(one.service),
                    self._create_shared_model(one.service, one.key),
                )
        self._services, self._chosen = services, chosen
        done = [one for one in self._retired if not one.in_use]
        self._retired = [one for one in self._retired if one.in_use]
        for one in done:
            await one.model.close()

    def create_policy(self, name: str = "", planning: TimedPlanning | None = None) -> Policy:
        """Create the policy of one run. ``name``: the model that its user has chosen for all of it.

        A chosen model that is gone is not asked any more, and no other one in its place.
        """
        if name:
            return self._create_named_policy(name, planning)
        models = {purpose: select_model(purpose, self._services, self._chosen, self._settings) for purpose in _OF_RUNS}
        account, policies = ModelAccount(), dict[str, FallbackPolicy]()
        parts: list[Policy] = []
        for purpose in _OF_RUNS:
            model = models[purpose]
            key = model.id if isinstance(model, ModelService) else model or ""
            if key not in policies:
                policies[key] = self._create_part(model, account, planning)
            parts.append(policies[key])
        return parts[0] if len(policies) == 1 else PolicyByPurpose(*parts)

    def get_chat_model(self, purpose: Purpose) -> tuple[ChatModel, float] | None:
        """Return the model for a purpose outside of runs, with the time limit of its answers in seconds.

        None where there is none.
        """
        choice = select_model(purpose, self._services, self._chosen, self._settings)
        if choice is None:
            return None
        if isinstance(choice, str):
            return self._of_settings(choice).model, self._settings.model_timeout
        held = self._shared.get(choice.id)
        model = UnavailableModel(choice.name, self._trouble.get(choice.id, _NONE)) if held is None else held[1].model
        return model, choice.parameters.timeout

    async def close(self) -> None:
        """Close all models except those of the settings."""
        for shared in [*self._retired, *(held[1] for held in self._shared.values())]:
            await shared.model.close()
        self._shared, self._retired = {}, []

    def _create_named_policy(self, name: str, planning: TimedPlanning | None) -> Policy:
        service = next((one for one in list_online_models(self._services) if one.name == name), None)
        if service is not None:
            return self._create_part(service, ModelAccount(), planning)
        if name in list_model_names(self._settings):
            return self._create_part(name, ModelAccount(), planning)
        return self._create_unavailable_policy(
            name, f"{name}, which was chosen for this run, is not on line any more", ModelAccount(), planning
        )

    def _create_part(
        self, model: ModelService | str | None, account: ModelAccount, planning: TimedPlanning | None
    ) -> FallbackPolicy:
        if model is None:
            return self._create_unavailable_policy("", _NONE, account, planning)
        if isinstance(model, str):
            return self._of_settings(model).create_policy(account, planning)
        held = self._shared.get(model.id)
        if held is None:
            return self._create_unavailable_policy(model.name, self._trouble.get(model.id, _NONE), account, planning)
        return held[1].create_policy(account, planning)

    def _create_unavailable_policy(
        self, name: str, why: str, account: ModelAccount, planning: TimedPlanning | None
    ) -> FallbackPolicy:
        first = LlmPolicy(UnavailableModel(name, why), build_allowance(self._settings), account=account)
        return FallbackPolicy(first, OfflinePolicy(planning=planning), CircuitBreaker())

    def _create_shared_model(self, service: ModelService, key: str) -> SharedModel:
        prices = (service.price_prompt, service.price_completion)
        return SharedModel(
            self._settings,
            form=_choose_form(service, self._settings),
            parameters=build_service_parameters(self._settings, service, key),
            prices=None if prices[0] is None or prices[1] is None else (prices[0], prices[1]),
        )


def _get_version(service: ModelService) -> tuple[int, str]:
    """Return a value that changes when the service has to be called in another way."""
    return service.version, (service.tested and service.tested.program_form) or ""


def _choose_form(service: ModelService, settings: Settings) -> ProgramForm:
    """Return the form of the model's programs: as the settings say, else as its test has found."""
    if settings.program_form != "auto":
        return settings.program_form
    return (service.tested and service.tested.program_form) or "code"
