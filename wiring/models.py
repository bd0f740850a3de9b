"""The language model of the settings, and the policy that asks it."""

from weakref import WeakSet

from agent.llm.client.langchain import LangchainModel, ModelParameters
from agent.llm.policy import LlmPolicy
from agent.llm.structured_output import Account, Allowance, Prices
from agent.policy.circuit_breaker import Breaker
from agent.policy.fallback import FallbackPolicy
from agent.programs.protocol import ProgramForm
from domain.errors import UsageError
from offline.planning_time import TimedPlanning
from offline.policy import OfflinePolicy
from wiring.settings import Settings


def model_parameters(settings: Settings, name: str = "") -> ModelParameters:
    """How the model that the settings name, or another of the same endpoint, is asked.

    Raises:
        UsageError: they name none.
    """
    lacking = [
        one for one in ("model_url", "model_name") if not getattr(settings, one) and not (name and one == "model_name")
    ]
    if lacking:
        names = " and ".join(f"FOOTPATH_{one.upper()}" for one in lacking)
        raise UsageError(
            f"the policy llm needs a language model: set {names} (and FOOTPATH_MODEL_API_KEY where the endpoint wants a "
            "key); any OpenAI-compatible endpoint will do, scripts/check_model.py tries it. The policy offline needs none"
        )
    return ModelParameters(
        url=without_operation(settings.model_url),
        name=name or settings.model_name,
        api_key=settings.model_api_key.get_secret_value(),
        timeout=settings.model_timeout,
        attempts=settings.model_attempts,
        temperature=settings.model_temperature,
        max_tokens=settings.model_max_tokens,
        structured=settings.model_structured,
        use_environment=settings.model_use_environment,
    )


def without_operation(url: str) -> str:
    """An endpoint's address where that of an operation was given."""
    return url.rstrip("/").removesuffix("/chat/completions")


def chat_model(settings: Settings, name: str = "") -> LangchainModel:
    """The model that the settings name, or another of the same endpoint; nothing is opened yet. Raises as :func:`model_parameters`."""
    return LangchainModel(model_parameters(settings, name))


def settings_prices(settings: Settings) -> Prices | None:
    """What the model of the settings costs."""
    prompt, completion = settings.model_price_prompt, settings.model_price_completion
    return None if prompt is None or completion is None else (prompt, completion)


class SharedModel:
    """One client and one breaker for all runs of a process that ask the same model. ``parameters``, ``prices``: of one that is not the settings'."""

    def __init__(
        self,
        settings: Settings,
        name: str = "",
        form: ProgramForm = "code",
        *,
        parameters: ModelParameters | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.model = chat_model(settings, name) if parameters is None else LangchainModel(parameters)
        self._prices = settings_prices(settings) if parameters is None else prices
        self._form: ProgramForm = form
        self._breaker = Breaker()
        self._allowance = allowance_of(settings)
        self._policies = WeakSet[FallbackPolicy]()

    def policy(self, account: Account | None = None, planning: TimedPlanning | None = None) -> FallbackPolicy:
        """A fresh policy for one run, which the offline policy stands in for. ``account``: of a run that asks others, too."""
        first = LlmPolicy(self.model, self._allowance, form=self._form, account=account, prices=self._prices)
        made = FallbackPolicy(first, OfflinePolicy(planning=planning), self._breaker)
        self._policies.add(made)
        return made

    @property
    def in_use(self) -> bool:
        """Whether a run may ask it still."""
        return bool(self._policies)


def allowance_of(settings: Settings) -> Allowance:
    """What models may use in one run."""
    return Allowance(settings.max_seconds, settings.max_model_calls, settings.max_tokens)
