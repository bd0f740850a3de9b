"""Language models that runs ask: those that administrators have put online, and those of the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.llm.client.chat import ChatModel, UnavailableModel
from agent.llm.policy import LlmPolicy
from agent.llm.structured_output import ModelAccount
from agent.policy.delegating_policy import PolicyByPurpose
from agent.policy.fallback import CircuitBreaker, FallbackPolicy
from agent.policy.protocol import Policy
from agent.programs.program_types import ProgramForm
from domain.model_service import ModelService, Purpose
from offline.planning_time import TimedPlanning
from offline.policy import OfflinePolicy
from wiring.model_services import build_service_parameters
from wiring.models import SharedModel, build_allowance
from wiring.settings import Settings, list_model_names


def list_online_models(services: Sequence[ModelService]) -> list[ModelService]:
    """Return the language models that runs may ask, in the order in which they were added."""
    return [service for service in services if service.kind == "chat" and service.online]


def select_model(
    purpose: Purpose, services: Sequence[ModelService], choices: Mapping[Purpose, str], settings: Settings
) -> ModelService | str | None:
    """Return the model for a purpose: a service, or the name of a model of the settings; None: there is none.

    The first of these that there is: the online service chosen for the purpose, the one chosen as the default, the
    first model of the settings, the first online service.
    """
    online = {online_service.id: online_service for online_service in list_online_models(services)}
    for key in (purpose, "default"):
        if (service := online.get(choices.get(key, ""))) is not None:
            return service
    names = list_model_names(settings)
    return names[0] if names else next(iter(online.values()), None)


_RUN_PURPOSES: tuple[Purpose, ...] = ("decisions", "programs", "answers", "responses")
_NO_MODEL = "no language model is on line"


@dataclass(frozen=True, slots=True)
class ServiceWithKey:
    """A service with its key."""

    service: ModelService
    key: str | None
    """None where the key cannot be opened, as ``trouble`` says."""
    trouble: str = ""


class ServedModels:
    """Language models that the runs of one process may ask.

    ``get_settings_model`` returns a model of the settings by its name; whoever passed it closes those models.
    """

    def __init__(self, settings: Settings, get_settings_model: Callable[[str], SharedModel]) -> None:
        self._settings = settings
        self._get_settings_model = get_settings_model
        self._services: Sequence[ModelService] = ()
        self._choices: Mapping[Purpose, str] = {}
        self._trouble: dict[str, str] = {}
        self._open_models: dict[str, tuple[tuple[int, str], SharedModel]] = {}
        self._retired: list[SharedModel] = []

    def is_current(self, service: ModelService) -> bool:
        """Return whether the service is open as it is now, so that its key need not be read."""
        opened = self._open_models.get(service.id)
        return opened is not None and opened[0] == _get_version(service)

    async def update_models(
        self, services: Sequence[ModelService], choices: Mapping[Purpose, str], new_services: Sequence[ServiceWithKey]
    ) -> None:
        """Use these services from now on. ``new_services``: online ones that are not open yet.

        Models that runs still ask are closed when these have ended.
        """
        online = {one.id for one in list_online_models(services)}
        changed = {one.service.id for one in new_services}
        for service_id in [one for one in self._open_models if one not in online or one in changed]:
            self._retired.append(self._open_models.pop(service_id)[1])
        self._trouble = {one: why for one, why in self._trouble.items() if one in online and one not in changed}
        for one in new_services:
            if one.key is None:
                self._trouble[one.service.id] = one.trouble
            else:
                self._open_models[one.service.id] = (
                    _get_version(one.service),
                    self._create_shared_model(one.service, one.key),
                )
        self._services, self._choices = services, choices
        finished = [one for one in self._retired if not one.in_use]
        self._retired = [one for one in self._retired if one.in_use]
        for one in finished:
            await one.model.close()

    def create_policy(self, name: str = "", planning: TimedPlanning | None = None) -> Policy:
        """Create the policy of one run. ``name``: the model that its user has chosen for all of it.

        A chosen model that is gone is not asked any more, and no other one in its place.
        """
        if name:
            return self._create_named_policy(name, planning)
        models = {
            purpose: select_model(purpose, self._services, self._choices, self._settings) for purpose in _RUN_PURPOSES
        }
        account, policies = ModelAccount(), dict[str, FallbackPolicy]()
        parts: list[Policy] = []
        for purpose in _RUN_PURPOSES:
            model = models[purpose]
            key = model.id if isinstance(model, ModelService) else model or ""
            if key not in policies:
                policies[key] = self._create_model_policy(model, account, planning)
            parts.append(policies[key])
        return parts[0] if len(policies) == 1 else PolicyByPurpose(*parts)

    def get_chat_model(self, purpose: Purpose) -> tuple[ChatModel, float] | None:
        """Return the model for a purpose outside of runs, with the time limit of its answers in seconds.

        None where there is none.
        """
        choice = select_model(purpose, self._services, self._choices, self._settings)
        if choice is None:
            return None
        if isinstance(choice, str):
            return self._get_settings_model(choice).model, self._settings.model_timeout
        opened = self._open_models.get(choice.id)
        model = (
            UnavailableModel(choice.name, self._trouble.get(choice.id, _NO_MODEL))
            if opened is None
            else opened[1].model
        )
        return model, choice.parameters.timeout

    async def close(self) -> None:
        """Close all models except those of the settings."""
        for shared in [*self._retired, *(opened[1] for opened in self._open_models.values())]:
            await shared.model.close()
        self._open_models, self._retired = {}, []

    def _create_named_policy(self, name: str, planning: TimedPlanning | None) -> Policy:
        service = next(
            (online_service for online_service in list_online_models(self._services) if online_service.name == name),
            None,
        )
        if service is not None:
            return self._create_model_policy(service, ModelAccount(), planning)
        if name in list_model_names(self._settings):
            return self._create_model_policy(name, ModelAccount(), planning)
        return self._create_unavailable_policy(
            name, f"{name}, which was chosen for this run, is not on line any more", ModelAccount(), planning
        )

    def _create_model_policy(
        self, model: ModelService | str | None, account: ModelAccount, planning: TimedPlanning | None
    ) -> FallbackPolicy:
        if model is None:
            return self._create_unavailable_policy("", _NO_MODEL, account, planning)
        if isinstance(model, str):
            return self._get_settings_model(model).create_policy(account, planning)
        opened = self._open_models.get(model.id)
        if opened is None:
            return self._create_unavailable_policy(
                model.name, self._trouble.get(model.id, _NO_MODEL), account, planning
            )
        return opened[1].create_policy(account, planning)

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
