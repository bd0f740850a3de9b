"""SoAy's seven functions alone, as its appendix A has them: a paper in detail also says where it came out and where its PDF is."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.routing import APIRoute
from pydantic import Field

from playground.apis import scholar
from playground.apis.scholar_models import PublicationDetails
from playground.apis.service import Service
from playground.worlds import chance, scholars

_VENUES = (
    "Annals of {}", "International Conference on {}", "Journal of {} Research", "Transactions on {}", "Workshop on {}",
)  # fmt: skip


class FullPublication(PublicationDetails):
    """A paper in detail."""

    venue: str = Field(
        description="Journal or conference that the paper was published in.", examples=["Annals of Cryptography"]
    )
    pdf_link: str = Field(description="Link to the PDF of the paper.", examples=["https://papers.example/c9f0f895.pdf"])


def venue_of(paper: scholars.Paper) -> str:
    """The journal or conference of a paper."""
    return chance.pick(_VENUES, "venue", paper.pub_id).format(paper.topic.title())


def pdf_of(paper: scholars.Paper) -> str:
    """Where the PDF of a paper is."""
    return f"https://papers.example/{paper.pub_id[:8]}.pdf"


async def get_publication(
    pub_id: Annotated[
        str, Query(description="Identifier of the paper, from a search.", examples=["c9f0f895fb98ab9159f51fd0"])
    ],
) -> FullPublication:
    """Details of an academic paper (publication): its abstract, its authors with their organisations, its number of
    citations, the journal or conference that it was published in, and the link to its PDF.
    """
    found = await scholar.get_publication(pub_id)
    paper = scholars.paper_by_id(pub_id)
    assert paper is not None  # noqa: S101 (it was found: told to the type checker)
    return FullPublication(**found.model_dump(), venue=venue_of(paper), pdf_link=pdf_of(paper))


def _router() -> APIRouter:
    router = APIRouter(prefix="/scholar")
    for route in scholar.router.routes:
        if isinstance(route, APIRoute) and route.operation_id != "getInstitution":
            own = route.operation_id == "getPublication"
            router.add_api_route(
                route.path.removeprefix("/scholar"), get_publication if own else route.endpoint, methods=["GET"],
                operation_id=route.operation_id, summary=route.summary, responses=route.responses,
            )  # fmt: skip
    return router


SERVICE = Service(_router(), "Scholar Search", "Scholars and their papers.")
