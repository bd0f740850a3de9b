"""Citewell, in the manner of Crossref: six functions over works, journals and funders. Lists come in an envelope with their total."""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.soay import works_world as world

router = APIRouter(prefix="/v2")
MOST_ITEMS = 20
T = TypeVar("T")


class Listing(BaseModel, Generic[T]):
    """What was found."""

    status: str = Field(description="'ok'.", examples=["ok"])
    total: int = Field(description="How many there are; at most 20 of them are listed.", examples=[2])
    items: list[T] = Field(description="What was found.")


class WorkRow(BaseModel):
    """A work in a list."""

    doi: str = Field(description="DOI of the work.", examples=["10.5417/0f3a9c2e"])
    title: str = Field(description="Title of the work.", examples=["Tracing Slow Decay across Borders"])
    year: int = Field(description="Year of publication.", examples=[2014])
    cited_by: int = Field(description="How many works cite it.", examples=[7])
    authors: list[str] = Field(
        description="Names of the authors, in order.", examples=[["Greta Ashgrove", "Piotr Xanthos"]]
    )


class InJournal(BaseModel):
    """Where a work came out."""

    issn: str = Field(description="ISSN of the journal.", examples=["4821-1907"])
    title: str = Field(description="Title of the journal.", examples=["Letters on Optics"])


class Grant(BaseModel):
    """Who paid for a work."""

    funder_id: str = Field(description="Identifier of the funder.", examples=["f8c1d20aa"])
    name: str = Field(description="Name of the funder.", examples=["Veldania Research Council"])
    award: str = Field(description="Number of the grant.", examples=["VE-2931"])


class Reference(BaseModel):
    """A work that is cited."""

    doi: str = Field(description="DOI of the cited work.", examples=["10.5417/77ab01d4"])
    title: str = Field(description="Title of the cited work.", examples=["Modelling Rare Events over Two Decades"])


class WorkDetails(BaseModel):
    """A work in detail."""

    doi: str = Field(description="DOI of the work.", examples=["10.5417/0f3a9c2e"])
    abstract: str = Field(description="Abstract of the work.", examples=["'Tracing Slow Decay' gathers 91 records."])
    licence: str = Field(description="Licence of the text.", examples=["CC BY 4.0"])
    pages: str = Field(description="First and last page.", examples=["112-131"])
    journal: InJournal = Field(description="The journal that it was published in.")
    funders: list[Grant] = Field(description="The funders that supported it.")
    references: list[Reference] = Field(description="The works that it cites.")


class JournalRow(BaseModel):
    """A journal in a list."""

    issn: str = Field(description="ISSN of the journal.", examples=["4821-1907"])
    title: str = Field(description="Title of the journal.", examples=["Letters on Optics"])
    publisher: str = Field(description="Name of the publisher.", examples=["Halden Academic"])
    subjects: list[str] = Field(description="Subjects that it covers.", examples=[["Optics", "Logistics"]])
    founded: int = Field(description="Year of the first issue.", examples=[1931])
    open_access: bool = Field(description="Whether anyone may read it free of charge.", examples=[True])


class FunderRow(BaseModel):
    """A funder in a list."""

    funder_id: str = Field(description="Identifier of the funder.", examples=["f8c1d20aa"])
    name: str = Field(description="Name of the funder.", examples=["Veldania Research Council"])
    country: str = Field(description="Country of the funder.", examples=["Veldania"])
    founded: int = Field(description="Year of its foundation.", examples=[1954])


class FundedRow(BaseModel):
    """A work that a funder supported."""

    doi: str = Field(description="DOI of the work.", examples=["10.5417/0f3a9c2e"])
    title: str = Field(description="Title of the work.", examples=["Tracing Slow Decay across Borders"])
    year: int = Field(description="Year of publication.", examples=[2014])
    cited_by: int = Field(description="How many works cite it.", examples=[7])
    award: str = Field(description="Number of the grant.", examples=["VE-2931"])


@router.get(
    "/works", operation_id="searchWorks", summary="Search works", responses=refusals(e400="Nothing to search by.")
)
async def search_works(
    title: Annotated[
        str | None,
        Query(description="Title of the work, or words of it.", examples=["Tracing Slow Decay across Borders"]),
    ] = None,
    author: Annotated[str | None, Query(description="Name of an author.", examples=["Greta Ashgrove"])] = None,
) -> Listing[WorkRow]:
    """Find scholarly works (papers) by title or author: DOI, title, year, authors and how often each is cited, the best match first."""
    if not (title or author):
        refuse(400, "Give a title or an author.")
    found = [
        work
        for work in world.most_cited_first(list(world.works()))
        if _words(title) <= _words(work.title)
        and (not author or any(_words(author) <= _words(name) for name in work.authors))
    ]
    return _listing([_row(work) for work in found])


@router.get(
    "/works/detail",
    operation_id="getWork",
    summary="A work in detail",
    responses=refusals(e404="No work has this DOI."),
)
async def get_work(
    doi: Annotated[str, Query(description="DOI of the work.", examples=["10.5417/0f3a9c2e"])],
) -> WorkDetails:
    """Details of a work: its abstract, licence, pages, journal, the funders that supported it and the works that it cites."""
    work = next((one for one in world.works() if one.doi == doi), None)
    if work is None:
        refuse(404, f"No work has the DOI {doi}.")
    titles = {one.doi: one.title for one in world.works()}
    return WorkDetails(
        doi=work.doi, abstract=work.abstract, licence=work.licence, pages=work.pages,
        journal=InJournal(issn=work.journal.issn, title=work.journal.title),
        funders=[Grant(funder_id=one.funder_id, name=one.name, award=work.award(one)) for one in work.funders],
        references=[Reference(doi=one, title=titles[one]) for one in work.references],
    )  # fmt: skip


@router.get(
    "/journals",
    operation_id="searchJournals",
    summary="Search journals",
    responses=refusals(e400="Nothing to search by."),
)
async def search_journals(
    title: Annotated[str | None, Query(description="Title of the journal.", examples=["Letters on Optics"])] = None,
    subject: Annotated[str | None, Query(description="A subject that it covers.", examples=["Optics"])] = None,
    publisher: Annotated[str | None, Query(description="Name of its publisher.", examples=["Halden Academic"])] = None,
) -> Listing[JournalRow]:
    """Find journals by title, subject or publisher: ISSN, title, publisher, subjects, year of the first issue, open access."""
    if not (title or subject or publisher):
        refuse(400, "Give a title, a subject or a publisher.")
    found = [
        one
        for one in sorted(world.journals(), key=lambda one: one.title)
        if _words(title) <= _words(one.title)
        and (not subject or subject.casefold() in (name.casefold() for name in one.subjects))
        and (publisher or "").casefold() in one.publisher.casefold()
    ]
    return _listing(
        [
            JournalRow(
                issn=one.issn, title=one.title, publisher=one.publisher, subjects=list(one.subjects),
                founded=one.founded, open_access=one.open_access,
            )
            for one in found
        ]
    )  # fmt: skip


@router.get(
    "/journals/works", operation_id="getJournalWorks", summary="Works of a journal",
    responses=refusals(e404="No journal has this ISSN."),
)  # fmt: skip
async def get_journal_works(
    issn: Annotated[str, Query(description="ISSN of the journal.", examples=["4821-1907"])],
) -> Listing[WorkRow]:
    """The works that a journal has published, the most cited first."""
    journal = next((one for one in world.journals() if one.issn == issn), None)
    if journal is None:
        refuse(404, f"No journal has the ISSN {issn}.")
    return _listing([_row(work) for work in world.works_of(journal)])


@router.get(
    "/funders", operation_id="searchFunders", summary="Search funders", responses=refusals(e400="Nothing to search by.")
)
async def search_funders(
    name: Annotated[
        str | None, Query(description="Name of the funder.", examples=["Veldania Research Council"])
    ] = None,
    country: Annotated[str | None, Query(description="Country of the funder.", examples=["Veldania"])] = None,
) -> Listing[FunderRow]:
    """Find research funders by name or country: identifier, name, country and year of foundation."""
    if not (name or country):
        refuse(400, "Give a name or a country.")
    found = [
        one
        for one in world.funders()
        if _words(name) <= _words(one.name) and (not country or country.casefold() == one.country.name.casefold())
    ]
    return _listing(
        [
            FunderRow(funder_id=one.funder_id, name=one.name, country=one.country.name, founded=one.founded)
            for one in found
        ]
    )


@router.get(
    "/funders/works", operation_id="getFunderWorks", summary="Works of a funder",
    responses=refusals(e404="No funder has this identifier."),
)  # fmt: skip
async def get_funder_works(
    funder_id: Annotated[str, Query(description="Identifier of the funder.", examples=["f8c1d20aa"])],
) -> Listing[FundedRow]:
    """The works that a funder has supported, with the number of the grant, the most cited first."""
    funder = next((one for one in world.funders() if one.funder_id == funder_id), None)
    if funder is None:
        refuse(404, f"No funder has the identifier {funder_id}.")
    return _listing(
        [
            FundedRow(
                doi=work.doi, title=work.title, year=work.year, cited_by=world.citations()[work.doi],
                award=work.award(funder),
            )
            for work in world.works_of(funder)
        ]
    )  # fmt: skip


def _row(work: world.Work) -> WorkRow:
    cited = world.citations()[work.doi]
    return WorkRow(doi=work.doi, title=work.title, year=work.year, cited_by=cited, authors=list(work.authors))


def _listing(found: Sequence[T]) -> Listing[T]:
    return Listing(status="ok", total=len(found), items=list(found[:MOST_ITEMS]))


def _words(text: str | None) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in (text or "").casefold()).split())


SERVICE = Service(
    router, "Citewell", "Scholarly works, the journals that publish them and the funders that support them."
)
