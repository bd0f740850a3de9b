"""Scholars and their papers. Whatever can be counted is counted from the papers: co-authors, publications, citations."""

from collections import Counter
from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.people import FAMILY, Organization, given_name, organizations

SCHOLARS = 240
PAPERS = 360
TOPICS = (
    "graph neural networks", "speech recognition", "protein folding", "solar cells", "coral reefs", "machine translation",
    "medieval trade", "number theory", "urban planning", "robot grasping", "quantum error correction", "soil chemistry",
    "recommender systems", "glacier dynamics", "game theory", "database indexing", "cancer imaging", "bird migration",
    "compiler optimisation", "battery materials", "computational linguistics", "air pollution", "cryptography",
    "earthquake prediction",
)  # fmt: skip
_OPENINGS = ("A Field Guide to", "Rethinking", "Scalable Methods for", "On the Limits of", "Towards Robust", "Measuring",
             "A Survey of", "Learning from Failures in", "Fast Approximations for", "Open Problems in",
             "A Benchmark for", "Sparse Models of", "The Hidden Structure of", "Uncertainty in", "New Evidence on")  # fmt: skip
_POSITIONS = ("Professor", "Associate Professor", "Assistant Professor", "Research Fellow", "Postdoctoral Researcher")
_ENDINGS = ("in the Wild", "under Noise", "at Scale", "with Few Examples", "across Regions", "over Time")


@dataclass(frozen=True, slots=True)
class Scholar:
    person_id: str
    name: str
    gender: str
    organization: Organization
    position: str
    interests: tuple[str, ...]
    education: str

    @property
    def email(self) -> str:
        return f"{self.name.lower().replace(' ', '.')}@{self.organization.domain}"

    @property
    def bio(self) -> str:
        return (
            f"{self.name} is {self.position} at {self.organization.name} and works on {' and '.join(self.interests)}."
        )


@dataclass(frozen=True, slots=True)
class Paper:
    """``references`` are the pub_ids of earlier papers of this world that it cites."""

    pub_id: str
    title: str
    topic: str
    year: int
    authors: tuple[Scholar, ...]
    references: tuple[str, ...]

    @property
    def abstract(self) -> str:
        return (
            f"We study {self.topic}. The paper '{self.title}' presents a method, an open data set and experiments, and "
            f"builds on {len(self.references)} earlier works."
        )


@cache
def scholars() -> tuple[Scholar, ...]:
    """All scholars; names are unique."""
    return tuple(_scholar(position) for position in range(SCHOLARS))


@cache
def papers() -> tuple[Paper, ...]:
    """All papers, oldest first; titles are unique."""
    made: list[Paper] = []
    titles: set[str] = set()
    for position in range(PAPERS):
        paper = _paper(position, made, titles)
        titles.add(paper.title)
        made.append(paper)
    return tuple(made)


@cache
def citations() -> Counter[str]:
    """How often each paper is cited by the others, by pub_id."""
    return Counter(reference for paper in papers() for reference in paper.references)


@cache
def papers_of(person_id: str) -> tuple[Paper, ...]:
    """The papers of a scholar, oldest first."""
    return tuple(paper for paper in papers() if any(author.person_id == person_id for author in paper.authors))


def citations_of(person_id: str) -> int:
    """The citations of all papers of a scholar."""
    return sum(citations()[paper.pub_id] for paper in papers_of(person_id))


def coauthors_of(person_id: str) -> list[tuple[Scholar, int]]:
    """Who wrote with a scholar, and how many papers; the closest first."""
    together: Counter[str] = Counter(
        author.person_id for paper in papers_of(person_id) for author in paper.authors if author.person_id != person_id
    )
    found = [(scholar, together[scholar.person_id]) for scholar in scholars() if scholar.person_id in together]
    return sorted(found, key=lambda pair: (-pair[1], pair[0].name))


def scholar_by_id(person_id: str) -> Scholar | None:
    """The scholar of that identifier."""
    return next((scholar for scholar in scholars() if scholar.person_id == person_id), None)


def paper_by_id(pub_id: str) -> Paper | None:
    """The paper of that identifier."""
    return next((paper for paper in papers() if paper.pub_id == pub_id), None)


def _scholar(position: int) -> Scholar:
    given, gender = given_name(position)
    name = f"{given} {FAMILY[(position * 7 + position // 48) % len(FAMILY)]}"
    employer = chance.pick(organizations(), "employer", name)
    school = chance.pick(organizations(), "school", name)
    graduation = chance.between(1985, 2016, "graduation", name)
    return Scholar(
        person_id=chance.identifier(24, "person", name),
        name=name,
        gender=gender,
        organization=employer,
        position=chance.pick(_POSITIONS, "position", name),
        interests=tuple(chance.several(TOPICS, chance.between(2, 3, "breadth", name), "interests", name)),
        education=f"PhD, {school.name}, {graduation}",
    )


def _title(position: int, topic: str, taken: set[str]) -> str:
    words = topic.title()
    for attempt in range(100):
        opening = chance.pick(_OPENINGS, "opening", position, attempt)
        plain = f"{opening} {words}"
        title = plain if attempt < 2 else f"{plain} {chance.pick(_ENDINGS, 'ending', position, attempt)}"
        if title not in taken:
            return title
    raise RuntimeError(f"no free title for paper {position}: add openings")


def _paper(position: int, earlier: list[Paper], taken: set[str]) -> Paper:
    """The first author is drawn in turn, so that every scholar has a paper; the others share the topic or the house."""
    first = scholars()[position % SCHOLARS]
    topic = chance.pick(first.interests, "topic", position)
    near = [
        other
        for other in scholars()
        if other is not first and (topic in other.interests or other.organization is first.organization)
    ]
    others = chance.several(near, chance.between(0, 3, "team", position), "team", position)
    related = [paper for paper in earlier if paper.topic == topic] + earlier[::9]
    references = chance.several(related, chance.between(1, 8, "references", position), "references", position)
    return Paper(
        pub_id=chance.identifier(24, "paper", position),
        title=_title(position, topic, taken),
        topic=topic,
        year=2008 + position * 18 // PAPERS,
        authors=(first, *others),
        references=tuple(sorted({paper.pub_id for paper in references})),
    )
