"""Scholars and papers: SoAy's couplings of one to three hops."""

from collections.abc import Iterator

from playground.scenarios.choice import Entries, some_papers, some_scholars, told
from playground.session import Scenario, Session

_EMAIL = (
    "How can I reach by e-mail whoever is named first among the authors of '{title}'?",
    'Find the email of the lead author of "{title}".',
    "What position does the first author of '{title}' hold, and what is the e-mail address?",
)
_PUBS = (
    "Which papers has {name} published?",
    "List the publications of {name} from {organization}.",
    "What has {name} written so far?",
)
_COAUTHORS = ("Who are the co-authors of {name}?", "With whom has {name} written papers?")
_CLOSEST = (
    "What is the position of the closest collaborator of {name}?",
    "Where does the most frequent co-author of {name} work, and as what?",
)
_INTERESTS = ("What is {name} interested in?", "Tell me the research interests of {name} at {organization}.")
_ABSTRACT = (
    'Give me the abstract of the paper "{title}".',
    "How often has the paper '{title}' been cited?",
    "Who wrote '{title}'?",
)
_BEST = (
    "What is the abstract of the most cited paper of {name}?",
    "Summarise the best known paper by {name} of {organization}.",
)
_WHERE = ("In which city does {name} work?", "In what country is the university of {name}?")
_AUTHOR_WHERE = ("In which city was the paper '{title}' written, going by its first author's organisation?",)
_PROFILE = ("Tell me about {name}: position, education and e-mail.", "Give me a short biography of {name}.")


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_EMAIL, _email, _titles(16, "email"))
    yield from told(_PUBS, _pubs, _people(8, "pubs"))
    yield from told(_COAUTHORS, _coauthors, _people(9, "coauthors"))
    yield from told(_CLOSEST, _closest, _people(9, "closest"))
    yield from told(_INTERESTS, _interests, _people(5, "interests"))
    yield from told(_ABSTRACT, _abstract, _titles(10, "abstract"))
    yield from told(_BEST, _best, _people(10, "best"))
    yield from told(_WHERE, _where, _people(4, "where"))
    yield from told(_AUTHOR_WHERE, _author_where, _titles(7, "where"))
    yield from told(_PROFILE, _profile, _people(9, "profile"))


def _titles(count: int, key: str) -> Entries:
    return [{"title": paper.title} for paper in some_papers(count, key)]


def _people(count: int, key: str) -> Entries:
    return [{"name": one.name, "organization": one.organization.name} for one in some_scholars(count, key)]


def _email(session: Session, title: str) -> None:
    found = session.call("searchPublication", publication_info=title)[0]
    first = session.call("getPublication", pub_id=found["pub_id"])["author_list"][0]
    person = session.call("getPersonBasicInfo", person_id=first["person_id"])
    session.answer(f"{person['name']} ({person['position']}) can be reached at {person['email']}.")


def _pubs(session: Session, name: str, organization: str) -> None:
    person = session.call("searchPerson", name=name, organization=organization)[0]
    pubs = session.call("getPersonPubs", person_id=person["person_id"])
    session.answer(f"{name} has published " + "; ".join(f"{pub['title']} ({pub['year']})" for pub in pubs) + ".")


def _coauthors(session: Session, name: str, organization: str) -> None:
    del organization
    person = session.call("searchPerson", name=name)[0]
    others = session.call("getCoauthors", person_id=person["person_id"])
    session.answer(f"{name} has written with " + ", ".join(other["name"] for other in others) + ".")


def _closest(session: Session, name: str, organization: str) -> None:
    del organization
    person = session.call("searchPerson", name=name)[0]
    other = session.call("getCoauthors", person_id=person["person_id"])[0]
    info = session.call("getPersonBasicInfo", person_id=other["id"])
    session.answer(f"{info['name']} is {info['position']} at {info['organization']}.")


def _interests(session: Session, name: str, organization: str) -> None:
    person = session.call("searchPerson", name=name, organization=organization)[0]
    interests = session.call("getPersonInterest", person_id=person["person_id"])
    session.answer(f"{name} works on {', '.join(interests)}.")


def _abstract(session: Session, title: str) -> None:
    found = session.call("searchPublication", publication_info=title)[0]
    paper = session.call("getPublication", pub_id=found["pub_id"])
    names = ", ".join(author["name"] for author in paper["author_list"])
    session.answer(f"'{title}' by {names}, cited {paper['num_citation']} times. {paper['abstract']}")


def _best(session: Session, name: str, organization: str) -> None:
    person = session.call("searchPerson", name=name, organization=organization)[0]
    pub = session.call("getPersonPubs", person_id=person["person_id"])[0]
    paper = session.call("getPublication", pub_id=pub["pub_id"])
    session.answer(f"{pub['title']} ({pub['num_citation']} citations): {paper['abstract']}")


def _where(session: Session, name: str, organization: str) -> None:
    del organization
    person = session.call("searchPerson", name=name)[0]
    place = session.call("getInstitution", organization=person["organization"])
    session.answer(f"{name} works at {person['organization']} in {place['city']}, {place['country']}.")


def _author_where(session: Session, title: str) -> None:
    found = session.call("searchPublication", publication_info=title)[0]
    first = session.call("getPublication", pub_id=found["pub_id"])["author_list"][0]
    place = session.call("getInstitution", organization=first["organization"])
    session.answer(f"{first['name']} wrote it at {first['organization']} in {place['city']}.")


def _profile(session: Session, name: str, organization: str) -> None:
    del organization
    person = session.call("searchPerson", name=name)[0]
    info = session.call("getPersonBasicInfo", person_id=person["person_id"])
    session.answer(f"{info['bio']} {info['education_experience']}. E-mail: {info['email']}.")
