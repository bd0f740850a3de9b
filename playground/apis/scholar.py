"""Scholar Search: the seven functions of SoAy (appendix A) and an index of organisations.

Names and shapes of the seven are the paper's, lists at the top level among them.
"""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from playground.apis.scholar_models import (
    Coauthor,
    Institution,
    PaperAuthor,
    PersonBasicInfo,
    PersonHit,
    PersonPub,
    PublicationDetails,
    PublicationHit,
)
from playground.apis.service import Service, refusals, refuse
from playground.worlds import scholars
from playground.worlds.people import organizations

router = APIRouter(prefix="/scholar", tags=["Academia"])
MOST_HITS = 10
Interest = Annotated[str, Field(description="A research interest.", examples=["speech recognition"])]
_PERSON = refusals(e404="No scholar has this identifier.")
PersonId = Annotated[
    str, Query(description="Identifier of the scholar, from searchPerson or a paper's author list.",
               examples=["8f14e45fceea167a5a36dedd"])
]  # fmt: skip


@router.get("/searchPerson", operation_id="searchPerson", summary="Search scholars", responses=refusals(e400="Empty."))
async def search_person(
    name: Annotated[str | None, Query(description="Name of the scholar.", examples=["Adela Abernathy"])] = None,
    organization: Annotated[
        str | None, Query(description="Name of the organisation of the scholar.", examples=["University of Velmora"])
    ] = None,
    interest: Annotated[
        str | None, Query(description="Research interest of the scholar.", examples=["speech recognition"])
    ] = None,
) -> list[PersonHit]:
    """Search for scholars by name, organisation or research interest. Returns their identifiers, number of citations,
    research interests, number of publications and organisation, the most cited first.
    """
    if not (name or organization or interest):
        refuse(400, "Give at least one of name, organization and interest.")
    hits = [
        _person_hit(person)
        for person in scholars.scholars()
        if _words(name) <= _words(person.name)
        and (organization or "").casefold() in person.organization.name.casefold()
        and any((interest or "").casefold() in topic for topic in person.interests)
    ]
    return sorted(hits, key=lambda hit: (-hit.num_citation, hit.name))[:MOST_HITS]


@router.get("/searchPublication", operation_id="searchPublication", summary="Search papers by title")
async def search_publication(
    publication_info: Annotated[
        str, Query(min_length=3, description="Title of the paper, or words of it.", examples=["Rethinking Solar Cells"])
    ],
) -> list[PublicationHit]:
    """Search for academic papers (publications) by title or words of it. Returns their identifiers, titles and
    years, the best match first.
    """
    wanted = _words(publication_info)
    ranked = sorted(
        (-len(wanted & _words(paper.title)), len(_words(paper.title)), paper.title, paper)
        for paper in scholars.papers()
    )
    close = [paper for shared, _, _, paper in ranked if 2 * -shared > len(wanted)]
    return [PublicationHit(pub_id=paper.pub_id, title=paper.title, year=paper.year) for paper in close[:MOST_HITS]]


@router.get("/getCoauthors", operation_id="getCoauthors", summary="Co-authors of a scholar", responses=_PERSON)
async def get_coauthors(person_id: PersonId) -> list[Coauthor]:
    """The co-authors of a scholar: with whom he or she has written papers, the closest collaborator first."""
    found = scholars.coauthors_of(_person(person_id).person_id)
    return [
        Coauthor(id=other.person_id, name=other.name, relation=f"coauthor of {papers} paper{'s' * (papers > 1)}")
        for other, papers in found
    ]


@router.get("/getPersonInterest", operation_id="getPersonInterest", summary="Interests of a scholar", responses=_PERSON)
async def get_person_interest(person_id: PersonId) -> list[Interest]:
    """The research interests of a scholar."""
    return list(_person(person_id).interests)


@router.get("/getPersonPubs", operation_id="getPersonPubs", summary="Papers of a scholar", responses=_PERSON)
async def get_person_pubs(person_id: PersonId) -> list[PersonPub]:
    """The publications of a scholar: titles, authors, years and numbers of citations of the papers, the most cited
    first.
    """
    pubs = [
        PersonPub(
            authors_name_list=[author.name for author in paper.authors],
            pub_id=paper.pub_id,
            title=paper.title,
            num_citation=scholars.citations()[paper.pub_id],
            year=paper.year,
        )
        for paper in scholars.papers_of(_person(person_id).person_id)
    ]
    return sorted(pubs, key=lambda pub: (-pub.num_citation, pub.title))


@router.get("/getPersonBasicInfo", operation_id="getPersonBasicInfo", summary="Profile of a scholar", responses=_PERSON)
async def get_person_basic_info(person_id: PersonId) -> PersonBasicInfo:
    """The profile of a scholar: gender, organisation, position, short biography, education, e-mail address."""
    person = _person(person_id)
    return PersonBasicInfo(
        person_id=person.person_id,
        name=person.name,
        gender=person.gender,
        organization=person.organization.name,
        position=person.position,
        bio=person.bio,
        education_experience=person.education,
        email=person.email,
    )


@router.get(
    "/getPublication",
    operation_id="getPublication",
    summary="A paper in detail",
    responses=refusals(e404="No paper has this identifier."),
)
async def get_publication(
    pub_id: Annotated[
        str, Query(description="Identifier of the paper, from a search.", examples=["c9f0f895fb98ab9159f51fd0"])
    ],
) -> PublicationDetails:
    """Details of an academic paper (publication): its abstract, its authors with their organisations, and its number of
    citations.
    """
    paper = scholars.paper_by_id(pub_id)
    if paper is None:
        refuse(404, f"No such paper: {pub_id}.")
    authors = [
        PaperAuthor(person_id=author.person_id, name=author.name, organization=author.organization.name)
        for author in paper.authors
    ]
    return PublicationDetails(
        abstract=paper.abstract, author_list=authors, num_citation=scholars.citations()[paper.pub_id]
    )


@router.get(
    "/institution",
    operation_id="getInstitution",
    summary="An organisation in detail",
    responses=refusals(e404="No organisation has this name."),
)
async def get_institution(
    organization: Annotated[
        str, Query(min_length=3, description="Name of the organisation.", examples=["University of Velmora"])
    ],
) -> Institution:
    """Facts about a university or research institution: the city and country where it is, and the year it was
    founded.
    """
    wanted = organization.strip().casefold()
    found = next((one for one in organizations() if one.name.casefold() == wanted), None)
    if found is None:
        refuse(404, f"No organisation is called {organization}.")
    staff = sum(person.organization is found for person in scholars.scholars())
    return Institution(
        organization=found.name,
        city=found.city.name,
        country=found.city.country.name,
        founded=found.founded,
        num_scholars=staff,
    )


def _words(text: str | None) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in (text or "").casefold()).split())


def _person(person_id: str) -> scholars.Scholar:
    found = scholars.scholar_by_id(person_id)
    if found is None:
        refuse(404, f"No such scholar: {person_id}.")
    return found


def _person_hit(person: scholars.Scholar) -> PersonHit:
    return PersonHit(
        person_id=person.person_id,
        name=person.name,
        num_citation=scholars.citations_of(person.person_id),
        interest=list(person.interests),
        num_pubs=len(scholars.papers_of(person.person_id)),
        organization=person.organization.name,
    )


SERVICE = Service(router, "Scholar Search", "Scholars, their papers and the organisations they work for.")
