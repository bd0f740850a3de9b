"""What ReelBase answers: pages of results, and credits apart from the film."""

from pydantic import BaseModel, Field


class MovieHit(BaseModel):
    """A movie in a list."""

    id: int = Field(description="Movie id.", examples=[61000])
    title: str = Field(examples=["Shadows over Cinder Bay"])
    release_date: str = Field(examples=["2011-03-25"])
    vote_average: float = Field(description="Users' rating, 0 to 10.", examples=[7.1])


class MoviePage(BaseModel):
    """A page of movies."""

    page: int = Field(examples=[1])
    results: list[MovieHit]
    total_pages: int = Field(examples=[1])
    total_results: int = Field(examples=[1])


class Genre(BaseModel):
    """A genre."""

    id: int = Field(examples=[18])
    name: str = Field(examples=["Drama"])


class ProductionCountry(BaseModel):
    """Where a movie was made."""

    iso_code: str = Field(description="Two-letter country code.", examples=["XV"])
    name: str = Field(examples=["Veldania"])


class Movie(MovieHit):
    """All about a movie but its people."""

    runtime: int = Field(description="Length in minutes.", examples=[112])
    genres: list[Genre]
    budget: int = Field(description="In Ashford pounds (AFP).", examples=[24000000])
    revenue: int = Field(description="Box office in Ashford pounds (AFP).", examples=[80160000])
    production_countries: list[ProductionCountry]
    original_language: str = Field(examples=["Veldanian"])


class CastMember(BaseModel):
    """An actor in a movie."""

    id: int = Field(description="Person id.", examples=[3242])
    name: str = Field(examples=["Dagny Aldermoor"])
    character: str = Field(description="Role.", examples=["the captain"])
    order: int = Field(description="0 is the lead.", examples=[0])


class CrewMember(BaseModel):
    """Somebody behind the camera."""

    id: int = Field(description="Person id.", examples=[3000])
    name: str = Field(examples=["Anselm Corvinelli"])
    job: str = Field(examples=["Director"])


class Credits(BaseModel):
    """The people of a movie."""

    id: int = Field(description="Movie id.", examples=[61000])
    cast: list[CastMember]
    crew: list[CrewMember]


class Person(BaseModel):
    """Somebody in film."""

    id: int = Field(description="Person id.", examples=[3000])
    name: str = Field(examples=["Anselm Corvinelli"])
    birthday: str = Field(examples=["1961-07-02"])
    gender: str = Field(examples=["male"])
    place_of_birth: str = Field(description="City, country.", examples=["Oskvik, Veldania"])
    known_for_department: str = Field(examples=["Directing"])


class PersonHit(BaseModel):
    """A person in a list."""

    id: int = Field(description="Person id.", examples=[3000])
    name: str = Field(examples=["Anselm Corvinelli"])
    known_for_department: str = Field(examples=["Directing"])


class PersonPage(BaseModel):
    """A page of people."""

    page: int = Field(examples=[1])
    results: list[PersonHit]
    total_results: int = Field(examples=[1])


class PlayedIn(MovieHit):
    """A movie in which a person plays."""

    character: str = Field(examples=["the captain"])


class WorkedOn(MovieHit):
    """A movie that a person worked on."""

    job: str = Field(examples=["Director"])


class Filmography(BaseModel):
    """All movies of a person."""

    id: int = Field(description="Person id.", examples=[3000])
    cast: list[PlayedIn]
    crew: list[WorkedOn]
