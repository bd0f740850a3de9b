"""The Daily Courant: a newspaper's archive. Its articles are very large."""

from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.failures import LARGE, fails
from playground.worlds import press

router = APIRouter(prefix="/courant/api", tags=["News"])
Section = Literal["business", "culture", "science", "travel"]


class ArticleHit(BaseModel):
    """An article in a list."""

    article_id: str = Field(description="Identifier of the article.", examples=["art_6ee0a1d4"])
    headline: str = Field(description="Headline.", examples=["Bees return to Oskvik"])
    published_on: str = Field(description="Day of publication.", examples=["2026-03-19"])


class FullArticle(ArticleHit):
    """An article and the page around it."""

    section: str = Field(description="Section of the paper.", examples=["science"])
    dateline_city: str = Field(description="City the article is about.", examples=["Oskvik"])
    journalist_id: str = Field(description="Identifier of who wrote it.", examples=["jrn_90bd17c2"])
    reading_minutes: int = Field(description="Minutes it takes to read.", examples=[6])
    body: str = Field(
        description="Text of the whole page (300 KB and more).", examples=["Oskvik, 2026-03-19. Bees return to Oskvik."]
    )


class JournalistPage(BaseModel):
    """Who writes."""

    journalist_name: str = Field(description="Name.", examples=["Tamsin Greyfriar"])
    office_city: str = Field(description="City of the office.", examples=["Wexley"])
    beat: str = Field(description="Section the journalist writes for.", examples=["science"])
    article_count: int = Field(description="Number of articles in the archive.", examples=[7])


@router.get("/search", operation_id="search_news", summary="Archive search")
async def search_news(
    q: Annotated[str, Query(min_length=2, description="Words of the headline.", examples=["bees return"])],
    section: Annotated[Section | None, Query(description="Only this section.", examples=["science"])] = None,
    since: Annotated[date | None, Query(description="Only articles from this day on.", examples=["2026-01-01"])] = None,
) -> list[ArticleHit]:
    """Search 400 days of newspaper articles by headline, newest first."""
    wanted = set(q.casefold().split())
    return [
        _hit(one)
        for one in press.articles()
        if wanted <= set(one.headline.casefold().split())
        and section in (None, one.section)
        and (since is None or one.published >= since)
    ][:10]


@router.get("/sections/{section}/latest", operation_id="get_headlines", summary="Front page of a section")
async def get_headlines(
    section: Annotated[Section, Path(description="Section of the paper.", examples=["culture"])],
    count: Annotated[int, Query(ge=1, le=20, description="How many headlines.")] = 5,
) -> list[ArticleHit]:
    """Latest headlines of a section."""
    return [_hit(one) for one in press.articles() if one.section == section][:count]


@router.get(
    "/articles/{article_id}",
    operation_id="get_article",
    summary="Full text",
    responses=refusals(e404="No article has this identifier."),
    dependencies=[fails(LARGE)],
)
async def get_article(
    article_id: Annotated[str, Path(description="Identifier of the article.", examples=["art_6ee0a1d4"])],
) -> FullArticle:
    """The full article with everything on its page, and who wrote it. Expect large responses."""
    found = press.article_by_id(article_id)
    if found is None:
        refuse(404, f"No such article: {article_id}.")
    return FullArticle(
        **_hit(found).model_dump(),
        section=found.section,
        dateline_city=found.city.name,
        journalist_id=found.author.journalist_id,
        reading_minutes=found.reading_minutes,
        body=press.page_around(found),
    )


@router.get(
    "/journalists/{journalist_id}",
    operation_id="get_journalist",
    summary="Journalist page",
    responses=refusals(e404="No journalist has this identifier."),
)
async def get_journalist(
    journalist_id: Annotated[str, Path(description="Identifier of the journalist.", examples=["jrn_90bd17c2"])],
) -> JournalistPage:
    """Who a journalist is: name, office and beat."""
    found = press.journalist_by_id(journalist_id)
    if found is None:
        refuse(404, f"No such journalist: {journalist_id}.")
    written = sum(one.author is found for one in press.articles())
    return JournalistPage(
        journalist_name=found.name, office_city=found.office.name, beat=found.beat, article_count=written
    )


def _hit(article: press.Article) -> ArticleHit:
    return ArticleHit(
        article_id=article.article_id, headline=article.headline, published_on=article.published.isoformat()
    )


SERVICE = Service(router, "Daily Courant", "The newspaper's archive and its writers.")
