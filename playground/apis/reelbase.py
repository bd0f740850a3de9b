"""ReelBase: movies and the people who make them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from playground.apis.reelbase_models import (
    CastMember,
    Credits,
    CrewMember,
    Filmography,
    Genre,
    Movie,
    MovieHit,
    MoviePage,
    Person,
    PersonHit,
    PersonPage,
    PlayedIn,
    ProductionCountry,
    WorkedOn,
)
from playground.apis.service import Service, refusals, refuse
from playground.failures import broken, fails
from playground.worlds import films

router = APIRouter(prefix="/reel/3", tags=["Movies"])
PAGE = 10
_MOVIE = refusals(e404="The resource you requested could not be found.")
MovieId = Annotated[int, Path(description="Movie id.", examples=[61000])]
PersonId = Annotated[int, Path(description="Person id.", examples=[3000])]


@router.get("/search/movie", operation_id="search_movie", summary="Search movies")
async def search_movie(
    query: Annotated[str, Query(min_length=2, description="Title, or words of it.", examples=["Cinder Bay"])],
    year: Annotated[int | None, Query(ge=1900, le=2100, description="Year of release.")] = None,
    page: Annotated[int, Query(ge=1, le=100, description="Page of ten results.")] = 1,
) -> MoviePage:
    """Search for movies (films) by their title."""
    wanted = set(query.casefold().split())
    found = [
        _hit(film)
        for film in films.films()
        if wanted <= set(film.title.casefold().split()) and year in (None, film.released.year)
    ]
    found.sort(key=lambda hit: (hit.title.casefold() != query.strip().casefold(), hit.title))
    return MoviePage(
        page=page,
        results=found[PAGE * (page - 1) : PAGE * page],
        total_pages=max(1, -(-len(found) // PAGE)),
        total_results=len(found),
    )


@router.get("/movie/{movie_id}", operation_id="movie_details", summary="Movie details", responses=_MOVIE)
async def movie_details(movie_id: MovieId) -> Movie:
    """Get the top level details of a movie by id: runtime, genres, budget, revenue, country, language."""
    film = _film(movie_id)
    return Movie(
        **_hit(film).model_dump(),
        runtime=film.runtime,
        genres=[Genre(id=10 + films.GENRES.index(name), name=name) for name in film.genres],
        budget=film.budget,
        revenue=film.revenue,
        production_countries=[ProductionCountry(iso_code=film.country.code, name=film.country.name)],
        original_language=film.country.languages[0],
    )


@router.get("/movie/{movie_id}/credits", operation_id="movie_credits", summary="Movie credits", responses=_MOVIE)
async def movie_credits(movie_id: MovieId) -> Credits:
    """Get the cast and crew of a movie: actors with their characters, and the director."""
    film = _film(movie_id)
    cast = [
        CastMember(id=actor.artist_id, name=actor.name, character=role, order=place)
        for place, (actor, role) in enumerate(film.cast)
    ]
    director = CrewMember(id=film.director.artist_id, name=film.director.name, job="Director")
    return Credits(id=movie_id, cast=cast, crew=[director])


@router.get("/search/person", operation_id="search_person", summary="Search people")
async def search_person(
    query: Annotated[str, Query(min_length=2, description="Name, or a part of it.", examples=["Corvinelli"])],
    page: Annotated[int, Query(ge=1, le=100, description="Page of ten results.")] = 1,
) -> PersonPage:
    """Search for actors and directors by their name."""
    wanted = set(query.casefold().split())
    found = [
        PersonHit(id=one.artist_id, name=one.name, known_for_department=_department(one))
        for one in films.artists()
        if wanted <= set(one.name.casefold().split())
    ]
    return PersonPage(page=page, results=found[PAGE * (page - 1) : PAGE * page], total_results=len(found))


@router.get("/person/{person_id}", operation_id="person_details", summary="Person details", responses=_MOVIE)
async def person_details(person_id: PersonId) -> Person:
    """Query the top level details of an actor or director: birthday and place of birth."""
    artist = _artist(person_id)
    return Person(
        id=person_id,
        name=artist.name,
        birthday=artist.born.isoformat(),
        gender=artist.gender,
        place_of_birth=f"{artist.birth_city.name}, {artist.birth_city.country.name}",
        known_for_department=_department(artist),
    )


@router.get(
    "/person/{person_id}/movie_credits",
    operation_id="person_movie_credits",
    summary="Movie credits of a person",
    responses=_MOVIE | refusals(e500="Internal error: something went wrong on our side. Try again."),
    dependencies=[fails(broken())],
)
async def person_movie_credits(person_id: PersonId) -> Filmography:
    """Get the filmography of a person: the movies acted in and the movies directed, oldest first."""
    artist = _artist(person_id)
    return Filmography(
        id=person_id,
        cast=[PlayedIn(**_hit(film).model_dump(), character=role) for film, role in films.roles_of(artist)],
        crew=[WorkedOn(**_hit(film).model_dump(), job="Director") for film in films.directed_by(artist)],
    )


def _hit(film: films.Film) -> MovieHit:
    return MovieHit(id=film.film_id, title=film.title, release_date=film.released.isoformat(), vote_average=film.rating)


def _department(artist: films.Artist) -> str:
    return "Directing" if films.directed_by(artist) else "Acting"


def _film(movie_id: int) -> films.Film:
    found = films.film_by_id(movie_id)
    if found is None:
        refuse(404, f"There is no movie with the id {movie_id}.")
    return found


def _artist(person_id: int) -> films.Artist:
    found = films.artist_by_id(person_id)
    if found is None:
        refuse(404, f"There is no person with the id {person_id}.")
    return found


SERVICE = Service(router, "ReelBase", "The community built movie database.")
