"""What a run may choose: how it plans, who decides, which language model is asked."""

from pydantic import BaseModel

from agent.planners.registry import PLANNER_DESCRIPTIONS, get_planner
from domain.errors import UsageError
from domain.model_service import ModelService
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.router import operations
from server.services import Services
from server.token_scopes import by_token
from wiring.served_models import list_online_models, select_model
from wiring.settings import list_model_names

router = operations("", tag="runs", responses=problems(401))
POLICIES = {
    "offline": "Rules decide: no language model is asked.",
    "llm": "A language model decides; rules stand in for it while it is out of reach.",
}


class Choice(BaseModel):
    name: str
    about: str


class Choices(BaseModel):
    """``policies``: llm is among them where there is a model, and solution among the ``planners``; the one to begin with is first. ``default_model``:
    empty where there is none.
    """

    planners: list[Choice]
    policies: list[Choice]
    models: list[str]
    default_model: str


@router.get("/choices", summary="What a run may choose")
@by_token("read")
async def choices(_: CurrentUser, services: CurrentServices) -> Choices:
    models = await models_of(services)
    return Choices(
        planners=[
            Choice(name=name, about=about)
            for name, about in PLANNER_DESCRIPTIONS.items()
            if models or name != "solution"
        ],
        policies=[
            Choice(name=name, about=POLICIES[name])
            for name in sorted(POLICIES, key=lambda one: one != services.settings.policy)
            if models or name != "llm"
        ],
        models=models,
        default_model=models[0] if models else "",
    )


async def models_of(services: Services) -> list[str]:
    """The models that a run may choose now, that of the default first: services that are on line, and those of the settings."""
    of, settings = services.storage.model_services, services.settings
    kept, chosen = await of.list_with_purposes()
    usual = select_model("default", kept, chosen, settings)
    first = [usual.name] if isinstance(usual, ModelService) else [usual or ""]
    names = [*first, *list_model_names(settings), *(one.name for one in list_online_models(kept))]
    return [name for name in dict.fromkeys(names) if name]


async def check_choices(planner: str, policy: str, model: str, services: Services) -> None:
    """``UsageError`` where a run cannot have these."""
    get_planner(planner)
    models = await models_of(services)
    if model and model not in models:
        raise UsageError(f"no model is called {model!r}; there are: {', '.join(models) or 'none'}")
    if policy == "llm" and not models:
        raise UsageError(
            "there is no language model: an administrator sets one up, or FOOTPATH_MODEL_URL names one; the policy offline needs none"
        )
    if model and policy != "llm":
        raise UsageError("a model is asked by the policy llm only; choose it, or leave the model out")
