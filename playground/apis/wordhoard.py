"""Wordhoard: a dictionary with related words. Its headwords do what Lingua's definitions do."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds import tongues

router = APIRouter(prefix="/wordhoard", tags=["Language"])


class Entry(BaseModel):
    """A headword."""

    entry_id: str = Field(description="Identifier of the entry.", examples=["hw_0c41fe"])
    headword: str = Field(description="The word.", examples=["orchard"])
    gloss: str = Field(description="Its meaning.", examples=["ground planted with fruit trees"])


class Related(BaseModel):
    """Words of the same meaning."""

    headword: str = Field(description="The word.", examples=["orchard"])
    synonyms: list[str] = Field(description="Words of nearly the same meaning.", examples=[["grove", "plantation"]])


@router.get(
    "/entries",
    operation_id="lookup_headword",
    summary="Headword lookup",
    responses=refusals(e404="No such headword."),
)
async def lookup_headword(
    lemma: Annotated[str, Query(min_length=1, description="Dictionary form of the word.", examples=["orchard"])],
) -> Entry:
    """The dictionary entry (gloss and entry id) for a lemma."""
    found = tongues.headword(lemma)
    if found is None:
        refuse(404, f"No headword '{lemma}'.")
    return Entry(entry_id=found.entry_id, headword=found.word, gloss=found.definition)


@router.get(
    "/entries/{entry_id}/related",
    operation_id="get_synonyms",
    summary="Thesaurus",
    responses=refusals(e404="No such entry."),
)
async def get_synonyms(
    entry_id: Annotated[str, Path(description="Identifier of the entry.", examples=["hw_0c41fe"])],
) -> Related:
    """Synonyms of a dictionary entry."""
    found = next((one for one in tongues.headwords() if one.entry_id == entry_id), None)
    if found is None:
        refuse(404, f"No entry {entry_id}.")
    return Related(headword=found.word, synonyms=list(found.synonyms))


SERVICE = Service(router, "Wordhoard", "A dictionary and thesaurus of English.")
