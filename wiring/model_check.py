"""Check of a language model by asking it: what its endpoint supports, how fast it is and what it costs."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from pydantic import Field

from agent.llm.client.chat import AnswerForm, ChatMessage, ModelReply
from agent.llm.client.dialect import AnswerFormat
from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from agent.llm.client.model_listing import list_models
from agent.llm.policy import LlmPolicy
from agent.policy.protocol import Policy
from agent.programs.program_types import ProgramForm
from domain.errors import InvalidDecisionError, ModelUnavailableError
from domain.model import Model
from wiring.model_samples import (
    FORECAST,
    SAMPLE_REQUEST,
    build_answer_sample,
    build_arguments_sample,
    build_choice_sample,
)
from wiring.models import build_model_parameters, get_settings_prices
from wiring.program_check import ProgramCheck, check_programs, choose_program_form
from wiring.settings import Settings

_PROBE_MESSAGES = (
    ChatMessage("system", "You answer with JSON."),
    ChatMessage("user", 'Answer with the JSON object {"state": "ready"} and nothing else.'),
)
_PROBE_FORM = AnswerForm(
    "state",
    {"type": "object", "properties": {"state": {"type": "string", "enum": ["ready"]}}, "required": ["state"], "additionalProperties": False},
)  # fmt: skip
T = TypeVar("T")
_CONCURRENT_QUESTIONS = 3
TYPICAL_DECISIONS = {"choose": 3, "arguments": 2, "answer": 1}
"""Decisions of a request that takes two calls."""


class DecisionCheck(Model):
    """Check of one kind of decision."""

    valid: bool
    right: bool
    """The decision is the one the sample asks for; a model that is wrong here will be worse on real requests."""
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class ModelReport(Model):
    """Findings about a language model. Times are in seconds."""

    url: str
    model: str
    listed: tuple[str, ...] | None = None
    chat_seconds: float | None = None
    usage_reported: bool | None = None
    stream_first_seconds: float | None = None
    streams: bool | None = None
    forms: dict[str, bool] = Field(default_factory=dict)
    """How answers can be constrained, by form; a missing form was not tried."""
    at_once_seconds: float | None = None
    decisions: dict[str, DecisionCheck] = Field(default_factory=dict)
    run_prompt_tokens: int = 0
    run_completion_tokens: int = 0
    programs: dict[ProgramForm, ProgramCheck] = Field(default_factory=dict[ProgramForm, ProgramCheck])
    """How the model writes programs, by form."""
    program_form: ProgramForm | None = None
    """The better form of programs; None where the model writes none."""
    cost: float | None = None
    """Cost of a typical run of two calls, in the currency of the prices; None without prices."""
    failure: str = ""
    """Kind of the failure, in one word; ``error`` has the full text."""
    error: str = ""
    advice: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Return whether every decision was valid."""
        return not self.failure and bool(self.decisions) and all(check.valid for check in self.decisions.values())


_MAX_REASONS = 3
"""Number of reasons shown for each form why no program was written."""


async def check_model(settings: Settings, prices: tuple[float, float] | None = None) -> ModelReport:
    """Ask the model of the settings some twenty small questions. Failures of the endpoint are in the report.

    ``prices``: per million prompt and completion tokens, by default those of the settings.

    Raises:
        UsageError: the settings name no model.
    """
    return await check_endpoint(build_model_parameters(settings), prices or get_settings_prices(settings))


async def check_endpoint(
    parameters: ModelParameters, prices: tuple[float, float] | None, seconds: float | None = None
) -> ModelReport:
    """Ask a model some twenty small questions; failures of its endpoint are in the report.

    ``seconds``: time limit of all checks. Programs that are not written by then are left out; ``TimeoutError``: the
    checks before them took longer.
    """
    end = None if seconds is None else asyncio.get_running_loop().time() + seconds
    model = LangchainModel(parameters)
    report = ModelReport(url=model.endpoint, model=model.name)
    listed = await _list_models(parameters, model.endpoint)
    if isinstance(listed, tuple):
        report = report.model_copy(update={"listed": listed})
    try:
        async with asyncio.timeout_at(end):
            report = await _measure_chat(model, report)
            report = await _try_answer_forms(parameters, report)
            report = await _try_decisions(model, report, prices)
        report = await _check_programs(model, report, prices, end)
    except ModelUnavailableError as error:
        failed = {"failure": error.kind, "error": str(error), "advice": await _suggest_fixes(parameters, error, listed)}
        return report.model_copy(update=failed)
    finally:
        await model.close()
    return report.model_copy(update={"advice": _collect_remarks(report, of_settings=parameters.addresses is None)})


async def _check_programs(
    model: LangchainModel, report: ModelReport, prices: tuple[float, float] | None, end: float | None
) -> ModelReport:
    try:
        async with asyncio.timeout_at(end):
            programs = await check_programs(model, prices)
    except TimeoutError:
        return report
    return report.model_copy(update={"programs": programs, "program_form": choose_program_form(programs)})


async def _list_models(parameters: ModelParameters, url: str) -> tuple[str, ...] | ModelUnavailableError:
    endpoint = replace(parameters, url=url, name="").error_endpoint
    limit = min(10.0, parameters.timeout)
    try:
        return await list_models(
            endpoint, timeout=limit, use_environment=parameters.use_environment, addresses=parameters.addresses
        )
    except ModelUnavailableError as error:
        return error


async def _measure_chat(model: LangchainModel, report: ModelReport) -> ModelReport:
    """Measure a full answer, a streamed one, and several at the same time."""
    # The first question pays for loading the client, so the second one is measured.
    await model.complete(_PROBE_MESSAGES)
    reply, seconds = await _measure_time(lambda: model.complete(_PROBE_MESSAGES))
    first, pieces, began = None, 0, time.perf_counter()
    async for piece in model.stream(_PROBE_MESSAGES):
        first = time.perf_counter() - began if first is None else first
        pieces += not isinstance(piece, ModelReply)
    _, at_once = await _measure_time(
        lambda: asyncio.gather(*(model.complete(_PROBE_MESSAGES) for _ in range(_CONCURRENT_QUESTIONS)))
    )
    measured = {"chat_seconds": seconds, "usage_reported": reply.usage.is_counted, "stream_first_seconds": first}
    return report.model_copy(update={**measured, "streams": pieces > 1, "at_once_seconds": at_once})


async def _try_answer_forms(parameters: ModelParameters, report: ModelReport) -> ModelReport:
    forms: dict[str, bool] = {}
    tried: tuple[AnswerFormat, ...] = ("json_schema", "json_object")
    for form in tried:
        model = LangchainModel(replace(parameters, structured=form))
        try:
            reply = await model.complete(_PROBE_MESSAGES, _PROBE_FORM)
            forms[form] = '"ready"' in reply.text and reply.text.strip().startswith("{")
        except ModelUnavailableError as error:
            if error.kind not in ("request", "server", "protocol"):
                raise
            forms[form] = False
        finally:
            await model.close()
    return report.model_copy(update={"forms": forms})


async def _try_decisions(model: LangchainModel, report: ModelReport, prices: tuple[float, float] | None) -> ModelReport:
    checks: dict[str, DecisionCheck] = {}
    kinds: dict[str, Callable[[Policy], Awaitable[tuple[bool, bool]]]] = {
        "choose": _try_choice, "arguments": _try_arguments, "answer": _try_answer,
    }  # fmt: skip
    for kind, ask in kinds.items():
        policy = LlmPolicy(model)
        (valid, right), seconds = await _measure_time(lambda ask=ask, policy=policy: ask(policy))
        used = policy.cost
        checks[kind] = DecisionCheck(
            valid=valid, right=right, prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens, seconds=seconds
        )  # fmt: skip
    prompt = sum(checks[kind].prompt_tokens * times for kind, times in TYPICAL_DECISIONS.items())
    completion = sum(checks[kind].completion_tokens * times for kind, times in TYPICAL_DECISIONS.items())
    cost = (prompt * prices[0] + completion * prices[1]) / 1_000_000 if prices else None
    measured = {"decisions": checks, "run_prompt_tokens": prompt, "run_completion_tokens": completion, "cost": cost}
    return report.model_copy(update=measured)


async def _try_choice(policy: Policy) -> tuple[bool, bool]:
    sample = build_choice_sample()
    choice = await policy.decide(sample)
    right = choice.index is not None and sample.candidates[choice.index].tool is FORECAST
    return choice.reason != "the model gave no valid move", right


async def _try_arguments(policy: Policy) -> tuple[bool, bool]:
    filled = await policy.decide(build_arguments_sample())
    right = {"latitude": 59.31, "longitude": 13.82, "days": 3}
    return not filled.missing, filled.values == right


async def _try_answer(policy: Policy) -> tuple[bool, bool]:
    try:
        text = "".join([piece async for piece in policy.answer(SAMPLE_REQUEST, build_answer_sample())])
    except InvalidDecisionError:
        return False, False
    return True, all(figure in text for figure in ("5.5", "6.5", "7.5")) and "[2]" in text


async def _measure_time(ask: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    began = time.perf_counter()
    result = await ask()
    return result, time.perf_counter() - began


async def _suggest_fixes(
    parameters: ModelParameters, error: ModelUnavailableError, listed: tuple[str, ...] | ModelUnavailableError
) -> tuple[str, ...]:
    """Suggest what would fix a failure, as far as it can be found out."""
    url = parameters.url
    elsewhere = error.kind in ("address", "protocol") and not url.endswith("/v1")
    if elsewhere and isinstance(await _list_models(parameters, f"{url}/v1"), tuple):
        change = f"set FOOTPATH_MODEL_URL={url}/v1" if parameters.addresses is None else "take that address"
        return (f"{url}/v1 answers: {change}",)
    if error.kind == "model" and isinstance(listed, tuple):
        return (f"the endpoint lists: {', '.join(listed[:20]) or 'no model at all'}",)
    if error.kind == "timeout":
        return ("a model that is loaded at the first question is slow once: try again",)
    return ()


def _collect_remarks(report: ModelReport, *, of_settings: bool) -> tuple[str, ...]:
    """Return remarks for the user of a working endpoint."""
    remarks: list[str] = []
    wrong_kinds = [kind for kind, check in report.decisions.items() if not check.right]
    if wrong_kinds:
        remarks.append(
            f"the model is wrong on an easy sample of: {', '.join(wrong_kinds)}; a larger one may be worth its price"
        )
    if not report.programs:
        remarks.append("programs were not tried: the model took too long with what came before")
    elif report.program_form is None:
        react = "--planner react" if of_settings else "the planner react"
        remarks.append(f"the model writes no programs that serve the samples: use {react}, or a larger model")
        remarks += [
            f"instead of a program: {why}"
            for check in report.programs.values()
            for why in check.unwritten[:_MAX_REASONS]
        ]
    elif report.program_form == "grammar":
        setting_hint = (
            "FOOTPATH_PROGRAM_FORM=grammar has it asked for these" if of_settings else "it is asked for these"
        )
        remarks.append(f"the model writes plans of the grammar better than Python: {setting_hint}")
    if not report.usage_reported:
        remarks.append("the endpoint counts no tokens: they are estimated at four characters each")
    if not report.forms.get("json_schema"):
        remarks.append(
            "the endpoint takes no schemas: answers are checked all the same, and more of them will be refused"
        )
    alone, together = report.chat_seconds or 0.0, report.at_once_seconds or 0.0
    if together > max(1.0, 2.5 * alone):
        remarks.append("the endpoint answers one question after the other: runs side by side will wait for each other")
    return tuple(remarks)
