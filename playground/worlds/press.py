"""What the newspaper has written: about companies and the cities where they are. Articles are long."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.companies import Company, companies
from playground.worlds.geography import City, cities
from playground.worlds.names import full_name

SECTIONS = ("business", "culture", "science", "travel")
ARCHIVE_CHARACTERS = 310_000
"""An article comes with the whole page that it stood on: the newspaper's interface has never learnt to leave it out."""
_HEADLINES = {
    "business": ("{company} opens a new plant", "{company} names its heir", "Strike ends at {company}",
                 "{company} buys a rival"),
    "culture": ("A night at the opera of {city}", "{city} restores its old theatre", "The painters of {city}"),
    "science": ("Comet seen over {city}", "What the soil of {city} tells", "Bees return to {city}"),
    "travel": ("Three days in {city}", "The slow boat to {city}", "Where {city} eats breakfast"),
}  # fmt: skip
_FILLER = "The presses of the Courant ran late that evening, and the street below was still wet from the rain. "


@dataclass(frozen=True, slots=True)
class Journalist:
    journalist_id: str
    name: str
    office: City
    beat: str


@dataclass(frozen=True, slots=True)
class Article:
    article_id: str
    headline: str
    section: str
    published: date
    author: Journalist
    city: City
    company: Company | None
    reading_minutes: int

    @property
    def lead(self) -> str:
        """The first sentence."""
        return f"{self.city.name}, {self.published}. {self.headline}, reports {self.author.name}."


@cache
def journalists() -> tuple[Journalist, ...]:
    """Three for each section."""
    return tuple(_journalist(position) for position in range(3 * len(SECTIONS)))


@cache
def articles() -> tuple[Article, ...]:
    """All articles, the latest first; headlines are unique."""
    made = [_article(section, place) for section in SECTIONS for place in range(18)]
    unique = {article.headline: article for article in made}
    return tuple(sorted(unique.values(), key=lambda one: (-one.published.toordinal(), one.headline)))


def article_by_id(article_id: str) -> Article | None:
    """The article of that identifier."""
    return next((one for one in articles() if one.article_id == article_id), None)


def journalist_by_id(journalist_id: str) -> Journalist | None:
    """The journalist of that identifier."""
    return next((one for one in journalists() if one.journalist_id == journalist_id), None)


def page_around(article: Article) -> str:
    """The page that an article stood on: :data:`ARCHIVE_CHARACTERS` of it."""
    return (f"{article.lead} " + _FILLER * (ARCHIVE_CHARACTERS // len(_FILLER) + 1))[:ARCHIVE_CHARACTERS]


def _journalist(position: int) -> Journalist:
    name = full_name("journalist", position)
    return Journalist(
        journalist_id=f"jrn_{chance.identifier(8, 'journalist', name)}",
        name=name,
        office=chance.pick(cities(), "office", name),
        beat=SECTIONS[position % len(SECTIONS)],
    )


def _article(section: str, place: int) -> Article:
    company = chance.pick(companies(), "company", section, place) if section == "business" else None
    city = company.headquarters if company else chance.pick(cities(), "dateline", section, place)
    pattern = chance.pick(_HEADLINES[section], "headline", section, place)
    headline = pattern.format(company=company.name if company else "", city=city.name)
    return Article(
        article_id=f"art_{chance.identifier(8, 'article', headline)}",
        headline=headline,
        section=section,
        published=TODAY - timedelta(days=chance.between(0, 400, "published", headline)),
        author=chance.pick([one for one in journalists() if one.beat == section], "author", headline),
        city=city,
        company=company,
        reading_minutes=chance.between(2, 14, "minutes", headline),
    )
