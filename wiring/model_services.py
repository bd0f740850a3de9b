"""Model services that administrators have set up: how they are called, where they may be, and whether they work."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from agent.llm.client.langchain_model import ModelParameters
from domain.errors import ForbiddenAddressError
from domain.model_service import NewModelService, ServiceTest, TriedDecision, TriedPrograms
from retriever.index import Embedder
from wiring.embedding_check import check_embedding
from wiring.encoders import CloseCallback, open_service_embedder
from wiring.model_check import TYPICAL_DECISIONS, ModelReport, check_endpoint
from wiring.models import strip_operation
from wiring.settings import Settings

if TYPE_CHECKING:
    from agent.execution.http.guard import AddressGuard
    from agent.llm.client.transport import AddressResolver

TEST_SECONDS = 120.0
"""Time limit of a test."""
_OWN_NETWORK_ADVICE = (
    "where {place} is meant, a machine of your own, tick “It is on this machine or in our own network” (own_network)"
)


def get_allowed_addresses(settings: Settings, service: NewModelService) -> "AddressResolver":
    """Return the check of the addresses that the service's host may have.

    Public addresses pass, and those that the administrator or the settings allow.
    """
    return _create_guard(settings, service).resolve_addresses


def _create_guard(settings: Settings, service: NewModelService) -> "AddressGuard":
    from agent.execution.http.guard import AddressGuard

    host, port = _parse_host_and_port(service.address)
    own_hosts = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"] if service.own_network else []
    return AddressGuard(settings.allow_hosts, own_hosts=own_hosts, advice=_OWN_NETWORK_ADVICE)


def _parse_host_and_port(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def build_service_parameters(settings: Settings, service: NewModelService, key: str) -> ModelParameters:
    """Return how to call a language model that an administrator has set up."""
    parameters = service.parameters
    return ModelParameters(
        url=strip_operation(service.address),
        name=service.model,
        api_key=key,
        timeout=parameters.timeout,
        attempts=parameters.attempts,
        temperature=parameters.temperature,
        max_tokens=parameters.max_tokens,
        structured=parameters.structured,
        use_environment=settings.model_use_environment,
        top_p=parameters.top_p,
        top_k=parameters.top_k,
        addresses=get_allowed_addresses(settings, service),
    )


async def try_service(settings: Settings, service: NewModelService, key: str) -> ServiceTest:
    """Try a service as runs would use it. All failures are in the result, which never holds the key."""
    guard = _create_guard(settings, service)
    try:
        guard.check_url(service.address)
        await guard.resolve_addresses(*_parse_host_and_port(service.address))
    except ForbiddenAddressError as error:
        return ServiceTest(works=False, failure="forbidden", error=str(error))
    except (OSError, ValueError):  # ValueError: no valid port or host
        return ServiceTest(
            works=False, failure="dns", error=f"the host of {service.address} is not known: check its field Address"
        )
    try:
        if service.kind == "embedding":
            async with asyncio.timeout(TEST_SECONDS):
                return await _try_embeddings(settings, service, key)
        prices = (service.price_prompt, service.price_completion)
        parameters = replace(build_service_parameters(settings, service, key), attempts=1)
        known_prices = None if prices[0] is None or prices[1] is None else (prices[0], prices[1])
        return _to_service_test(await check_endpoint(parameters, known_prices, TEST_SECONDS))
    except TimeoutError:
        message = f"the test took longer than {TEST_SECONDS:g} seconds and was broken off: take a faster model"
        return ServiceTest(works=False, failure="timeout", error=message)


def open_embeddings(settings: Settings, service: NewModelService, key: str) -> tuple[Embedder, CloseCallback]:
    """Return an embedding service as an encoder, and a function that closes it.

    ``UsageError`` without a known dimension.
    """
    return open_service_embedder(_to_settings(settings, service, key), get_allowed_addresses(settings, service))


def _to_settings(settings: Settings, service: NewModelService, key: str) -> Settings:
    parameters = service.parameters
    changes = {
        "embedder": "service",
        "embedding_url": service.address,
        "embedding_name": service.model,
        "embedding_api_key": SecretStr(key),
        "embedding_dimension": parameters.dimension,
        "embedding_shorten": parameters.shorten,
        "embedding_query_prefix": parameters.query_prefix,
        "embedding_document_prefix": parameters.document_prefix,
        "embedding_batch": parameters.batch,
        "embedding_timeout": parameters.timeout,
        "embedding_attempts": parameters.attempts,
    }
    return settings.model_copy(update=changes)


async def _try_embeddings(settings: Settings, service: NewModelService, key: str) -> ServiceTest:
    """Try an embedding service as that of the settings is tried."""
    trial_settings = _to_settings(settings, service, key).model_copy(update={"embedding_attempts": 1})
    report = await check_embedding(trial_settings, get_allowed_addresses(settings, service))
    advice = [remark for remark in report.advice if not remark.startswith("set FOOTPATH_EMBED")]
    return ServiceTest(
        works=report.works,
        failure=report.failure,
        error=report.error,
        advice=tuple(advice),
        seconds=report.seconds,
        dimension=report.dimension,
        texts_a_second=report.texts_a_second,
        identity=report.identity,
    )


def _to_service_test(report: ModelReport) -> ServiceTest:
    decisions = {kind: TriedDecision.model_validate(check.model_dump()) for kind, check in report.decisions.items()}
    invalid = [kind for kind, check in decisions.items() if not check.valid]
    return ServiceTest(
        works=report.works,
        failure=report.failure or ("decisions" if invalid else ""),
        error=report.error
        or (f"the model gave no answer that can be used, asked to: {', '.join(invalid)}" if invalid else ""),
        advice=report.advice,
        seconds=report.chat_seconds,
        first_seconds=report.stream_first_seconds,
        streams=report.streams,
        counts_tokens=report.usage_reported,
        listed=None if report.listed is None else report.model in report.listed,
        forms=report.forms,
        decisions=decisions,
        programs={
            form: TriedPrograms(right=check.right, samples=check.samples) for form, check in report.programs.items()
        },
        program_form=report.program_form,
        run_tokens=report.run_prompt_tokens + report.run_completion_tokens,
        decision_cost=None if report.cost is None else report.cost / sum(TYPICAL_DECISIONS.values()),
        run_cost=report.cost,
    )
