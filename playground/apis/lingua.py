"""Lingua: languages, translations of phrases, definitions of words."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.failures import MISLABELLED, MislabelledJson, fails
from playground.worlds import tongues

router = APIRouter(prefix="/lingua", tags=["Language"])


class LanguageEntry(BaseModel):
    """A language."""

    language_code: str = Field(description="Three-letter code.", examples=["vel"])
    language_name: str = Field(description="Name in English.", examples=["Veldanian"])


class Detection(LanguageEntry):
    """A guess."""

    confidence: float = Field(description="Share of the words that were recognised, from 0 to 1.", examples=[0.75])


class Translation(BaseModel):
    """A phrase in another language."""

    translated_text: str = Field(description="The translation.", examples=["dremor"])
    target_language: str = Field(description="Code of the language it is in.", examples=["vel"])


class Definition(BaseModel):
    """A word's meaning."""

    word: str = Field(description="The word.", examples=["orchard"])
    part_of_speech: str = Field(description="Noun, verb, adjective and so on.", examples=["noun"])
    definition: str = Field(description="What it means.", examples=["ground planted with fruit trees"])


@router.get("/languages", operation_id="list_languages", summary="Supported languages")
async def list_languages() -> list[LanguageEntry]:
    """Lists the languages we translate to, with the codes that `/translate` expects."""
    return [LanguageEntry(language_code=one.code, language_name=one.name) for one in tongues.tongues()]


@router.get("/detect", operation_id="detect_language", summary="Language detection")
async def detect_language(
    text: Annotated[
        str, Query(min_length=2, max_length=2000, description="Text in an unknown language.", examples=["shulan"])
    ],
) -> Detection:
    """Detects the language that a text is written in."""
    name, share = tongues.spoken_in(text)
    found = tongues.tongue(name)
    return Detection(language_code=found.code if found else "eng", language_name=name, confidence=share)


@router.get(
    "/translate",
    operation_id="translate_phrase",
    summary="Translate",
    responses=refusals(e400="The phrase is not in the phrase book.", e404="We do not translate to this language."),
)
async def translate_phrase(
    phrase: Annotated[str, Query(min_length=1, description="English word or phrase.", examples=["thank you"])],
    language_code: Annotated[
        str,
        Query(min_length=3, max_length=3, description="Three-letter code of the target language.", examples=["vel"]),
    ],
) -> Translation:
    """Translates an English word or set phrase ("hello", "thank you", "harbour" …) to another language."""
    target, entry = tongues.tongue(language_code), tongues.headword(phrase)
    if target is None:
        refuse(404, f"Unknown language code {language_code}; /lingua/languages lists them.")
    if entry is None:
        refuse(400, f"'{phrase}' is not in our phrase book.")
    return Translation(translated_text=tongues.translated(entry.word, target.name), target_language=target.code)


@router.get(
    "/define",
    operation_id="define_word",
    summary="Definition of a word",
    responses=refusals(e404="The word is not in the dictionary."),
    response_class=MislabelledJson,
    dependencies=[fails(MISLABELLED)],
)
async def define_word(
    word: Annotated[str, Query(min_length=1, description="English word to look up.", examples=["orchard"])],
) -> Definition:
    """Looks a word up in the dictionary and returns its meaning."""
    entry = tongues.headword(word)
    if entry is None:
        refuse(404, f"'{word}' is not in the dictionary.")
    return Definition(word=entry.word, part_of_speech=entry.part_of_speech, definition=entry.definition)


SERVICE = Service(router, "Lingua", "Translation, language detection and definitions.")
