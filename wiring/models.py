"""Language model of the settings, and the policy that asks it."""

from weakref import WeakSet

from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from agent.llm.policy import LlmPolicy
from agent.llm.structured_output import ModelAccount, ModelAllowance, TokenPrices
from agent.policy.fallback import CircuitBreaker, FallbackPolicy
from agent.programs.program_types import ProgramForm
from domain.errors import UsageError
from offline.planning_time import TimedPlanning
from offline.policy import OfflinePolicy
from wiring.settings import Settings


def build_model_parameters(settings: Settings, name: str = "") -> ModelParameters:
    """Return how to call the model of the settings, or another one of the same endpoint.

    Raises:
        UsageError: the settings name none.
    """
    missing = [
        setting
        for setting in ("model_url", "model_name")
        if not getattr(settings, setting) and not (name and setting == "model_name")
    ]
    if missing:
        names = " and ".join(f"FOOTPATH_{setting.upper()}" for setting in missing)
        raise UsageError(
            f"the policy llm needs a language model: set {names} (and FOOTPATH_MODEL_API_KEY where the endpoint wants a "
            "key); any OpenAI-compatible endpoint will do, scripts/check_model.py tries it. The policy offline needs none"
        )
    return ModelParameters(
        url=strip_operation(settings.model_url),
        name=name or settings.model_name,
        api_key=settings.model_api_key.get_secret_value(),
        timeout=settings.model_timeout,
        attempts=settings.model_attempts,
        temperature=settings.model_temperature,
        max_tokens=settings.model_max_tokens,
        structured=settings.model_structured,
        use_environment=settings.model_use_environment,
    )


def strip_operation(url: str) -> str:
    """Return an endpoint's address without the path of an operation."""
    return url.rstrip("/").removesuffix("/chat/completions")


def create_chat_model(settings: Settings, name: str = "") -> LangchainModel:
    """Create the model of the settings, or another one of the same endpoint; nothing is opened yet.

    Raises as :func:`build_model_parameters`.
    """
    return LangchainModel(build_model_parameters(settings, name))


def get_settings_prices(settings: Settings) -> TokenPrices | None:
    """Return the prices of the model of the settings."""
    prompt, completion = settings.model_price_prompt, settings.model_price_completion
    return None if prompt is None or completion is None else (prompt, completion)


class SharedModel:
    """One client and one circuit breaker for all runs of a process that ask the same model.

    ``parameters``, ``prices``: of a model that is not that of the settings.
    """

    def __init__(
        self,
        settings: Settings,
        name: str = "",
        form: ProgramForm = "code",
        *,
        parameters: ModelParameters | None = None,
        prices: TokenPrices | None = None,
    ) -> None:
        self.model = create_chat_model(settings, name) if parameters is None else LangchainModel(parameters)
        self._prices = get_settings_prices(settings) if parameters is None else prices
        self._form: ProgramForm = form
        self._breaker = CircuitBreaker()
        self._allowance = build_allowance(settings)
        self._policies = WeakSet[FallbackPolicy]()

    def create_policy(
        self, account: ModelAccount | None = None, planning: TimedPlanning | None = None
    ) -> FallbackPolicy:
        """Create a policy for one run, with the offline policy as its fallback.

        ``account``: shared with further models of the same run.
        """
        first = LlmPolicy(self.model, self._allowance, form=self._form, account=account, prices=self._prices)
        policy = FallbackPolicy(first, OfflinePolicy(planning=planning), self._breaker)
        self._policies.add(policy)
        return policy

    @property
    def in_use(self) -> bool:
        """Return whether a run may still ask it."""
        return bool(self._policies)


def build_allowance(settings: Settings) -> ModelAllowance:
    """Return what models may use in one run."""
    return ModelAllowance(settings.max_seconds, settings.max_model_calls, settings.max_tokens)
