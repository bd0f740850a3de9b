"""The encoder that searches go by: what is in use, and a change of it in the shadow, for administrators."""

import logging
from datetime import datetime
from typing import Annotated

from fastapi import Request
from pydantic import BaseModel, Field, StringConstraints

from domain.encoder_comparison import EncoderComparison
from domain.errors import ConflictError
from server.audit import note
from server.dependencies import CurrentAdmin, CurrentServices
from server.encoders.choices import OfferedEncoder, chosen_encoder, key_of, offered_encoders
from server.encoders.job import LINKS, PREPARE
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import Plain
from server.services import Services
from server.storage.accounts import User
from server.storage.jobs import Job
from server.token_scopes import by_token
from wiring.container import Container
from wiring.encoder_change import EncoderChange
from wiring.encoder_state import EncoderVectors
from wiring.encoder_trial import load_last_comparison

router = operations("/embeddings", tag="embeddings", responses=problems(401, 403))
_log = logging.getLogger(__name__)


class ShownVectors(BaseModel):
    """The vectors of one encoder. ``key``: that of the encoder among the choices. ``at``: in use, or begun, since; null: since the store was made."""

    key: str
    name: str
    identity: str
    dimension: int
    at: datetime | None


class EmbeddingsShown(BaseModel):
    """``in_use`` is null in a store without vectors. ``beside``: what is prepared, ``ready`` once it is of all tools; ``former``: what one can switch back to.

    ``comparison``: of both, once it was made. ``job``: the latest that prepared. ``tools``: all that have a document.
    """

    tools: int
    in_use: ShownVectors | None
    beside: ShownVectors | None
    ready: bool
    former: ShownVectors | None
    comparison: EncoderComparison | None
    job: Job | None
    choices: list[OfferedEncoder]


class PrepareBody(BaseModel):
    encoder: Annotated[str, StringConstraints(min_length=1, max_length=200), Plain] = Field(
        description="The key of one of the choices."
    )


@router.get("", summary="Which encoder searches go by, what is prepared, and what may be chosen")
@by_token("administer")
async def embeddings(_: CurrentAdmin, services: CurrentServices) -> EmbeddingsShown:
    container = await services.agents.get_full_container()
    return await _shown(container, services)


@router.post(
    "/prepare",
    status_code=202,
    summary="Make vectors with another encoder beside those in use",
    responses=problems(404, 409),
)
@by_token("administer")
async def prepare_embeddings(
    request: Request, body: PrepareBody, admin: CurrentAdmin, services: CurrentServices
) -> Job:
    """A job, which compares both at its end. Given again after it was cancelled or failed, it goes on where it was."""
    choice = await chosen_encoder(services.settings, services.storage.model_services, body.encoder)
    note(request, encoder=body.encoder, name=choice.name)
    return await services.jobs.add(PREPARE, admin, {"encoder": body.encoder})


@router.post(
    "/compare", status_code=202, summary="Compare what is prepared with what is in use again", responses=problems(409)
)
@by_token("administer")
async def compare_embeddings(admin: CurrentAdmin, services: CurrentServices) -> Job:
    """Over the requests that the store has served until now."""
    return await services.jobs.add(PREPARE, admin)


@router.post("/switch", summary="Search by the prepared vectors from now on", responses=problems(409))
@by_token("administer")
async def switch_embeddings(request: Request, admin: CurrentAdmin, services: CurrentServices) -> EmbeddingsShown:
    """At once and for every process; a run ends with what it began with. The former vectors are kept."""
    container = await services.agents.get_full_container()
    await _no_job(services)
    now = await EncoderChange(container).switch()
    note(request, encoder=key_of(now.encoder))
    await _link(services, admin)
    return await _shown(container, services)


@router.post("/switch-back", summary="Search by the former vectors again", responses=problems(409))
@by_token("administer")
async def switch_embeddings_back(request: Request, admin: CurrentAdmin, services: CurrentServices) -> EmbeddingsShown:
    """They take in first what came and went meanwhile. Those in use are the former ones then."""
    container = await services.agents.get_full_container()
    await _no_job(services)
    now = await EncoderChange(container).switch_back()
    note(request, encoder=key_of(now.encoder))
    await _link(services, admin)
    return await _shown(container, services)


@router.delete("/prepared", summary="Delete the vectors that were prepared", responses=problems(409))
@by_token("administer")
async def discard_embeddings(_: CurrentAdmin, services: CurrentServices) -> EmbeddingsShown:
    container = await services.agents.get_full_container()
    await _no_job(services)
    await EncoderChange(container).discard()
    return await _shown(container, services)


@router.delete("/former", summary="Delete the vectors in use before the switch", responses=problems(409))
@by_token("administer")
async def drop_embeddings(_: CurrentAdmin, services: CurrentServices) -> EmbeddingsShown:
    """Nobody can switch back then. It is refused as long as runs go on that began with them."""
    container = await services.agents.get_full_container()
    state = await container.encoders.load_state()
    since = state.in_use.at if state.in_use else None
    if since is not None and (left := await services.storage.runs.count_running_since(since)):
        raise ConflictError(
            f"{left} runs that began with the former vectors go on still: try again when they have ended"
        )
    await EncoderChange(container).drop_former()
    return await _shown(container, services)


async def _no_job(services: Services) -> None:
    """Nothing is switched to or deleted under a job that fills it."""
    for job in await services.storage.jobs.list_page((PREPARE,), limit=1):
        if job.state in ("queued", "running"):
            raise ConflictError(
                "vectors are being prepared or compared just now: wait until the job has ended, or cancel it"
            )


async def _link(services: Services, admin: User) -> None:
    """Substitutes are found with the new vectors; where the store is worked on just now, the next build finds them."""
    try:
        await services.jobs.add(LINKS, admin)
    except ConflictError as error:
        _log.warning("substitutes are not found with the new vectors before the next build: %s", error)


async def _shown(container: Container, services: Services) -> EmbeddingsShown:
    encoders = container.encoders
    state, in_use = await encoders.load_state(), await EncoderChange(container).find_vectors_in_use()
    jobs = await services.storage.jobs.list_page((PREPARE,), limit=1)
    return EmbeddingsShown(
        tools=(await container.graph.compute_statistics()).documents,
        in_use=_vectors(in_use),
        beside=_vectors(state.beside),
        ready=state.beside is not None and state.whole,
        former=_vectors(state.former),
        comparison=await load_last_comparison(container) if state.beside else None,
        job=jobs[0] if jobs else None,
        choices=await offered_encoders(services.settings, encoders, services.storage.model_services),
    )


def _vectors(one: EncoderVectors | None) -> ShownVectors | None:
    if one is None:
        return None
    named = one.encoder.name
    return ShownVectors(key=key_of(one.encoder), name=named, identity=one.identity, dimension=one.dimension, at=one.at)
