"""Films, credits and filmographies agree; programmes are of films that are out."""

from datetime import date

import httpx
import pytest

from playground.worlds import films
from playground.worlds.clock import TODAY
from playground.worlds.geography import cities
from tests.unit.playground.asking import get

FILM, CINEMA = films.films()[0], films.cinemas()[0]
SHOWTIMES = f"/marquee/cinemas/{CINEMA.cinema_id}/showtimes"


def test_names_and_numbers_are_unique() -> None:
    for values in (
        [one.title for one in films.films()],
        [one.film_id for one in films.films()],
        [one.name for one in films.artists()],
        [one.artist_id for one in films.artists()],
        [one.cinema_id for one in films.cinemas()],
    ):
        assert len(set(values)) == len(values)


def test_films_fit_the_lives_of_their_makers() -> None:
    for film in films.films():
        assert film.director.born.year + 18 < film.released.year <= TODAY.year
        assert len({actor.name for actor, _ in film.cast}) == len(film.cast) >= 4
        assert film.released <= TODAY


def test_everybody_has_a_part() -> None:
    assert all(films.directed_by(one) for one in films.artists()[: films.DIRECTORS])
    assert all(films.roles_of(one) for one in films.artists()[films.DIRECTORS :])


async def test_every_film_is_found_first_by_its_title(client: httpx.AsyncClient) -> None:
    for film in films.films():
        found = (await get(client, "/reel/3/search/movie", query=film.title))["results"]
        assert found[0]["id"] == film.film_id


async def test_searches_come_in_pages(client: httpx.AsyncClient) -> None:
    first = await get(client, "/reel/3/search/movie", query="the")
    last = await get(client, "/reel/3/search/movie", query="the", page=first["total_pages"])
    assert len(first["results"]) == 10 < first["total_results"]
    assert len(last["results"]) == (first["total_results"] - 1) % 10 + 1
    year = FILM.released.year
    assert all(
        one["release_date"].startswith(str(year))
        for one in (await get(client, "/reel/3/search/movie", query="the", year=year))["results"]
    )


async def test_credits_and_filmographies_agree(client: httpx.AsyncClient) -> None:
    await client.put("/_failures/all", params={"on": False})
    credit = await get(client, f"/reel/3/movie/{FILM.film_id}/credits")
    assert [one["order"] for one in credit["cast"]] == list(range(len(credit["cast"])))
    for member in (*credit["cast"], *credit["crew"]):
        made = await get(client, f"/reel/3/person/{member['id']}/movie_credits")
        works = {one["id"]: one for one in (*made["cast"], *made["crew"])}
        assert FILM.film_id in works
        assert works[FILM.film_id].get("character") == member.get("character")
        person = await get(client, f"/reel/3/person/{member['id']}")
        assert person["place_of_birth"].split(", ")[0] in {city.name for city in cities()}
        assert person["name"] == member["name"]


async def test_a_filmography_breaks_once(client: httpx.AsyncClient) -> None:
    path = f"/reel/3/person/{FILM.director.artist_id}/movie_credits"
    assert [(await client.get(path)).status_code for _ in range(3)] == [500, 200, 200]


async def test_a_programme_shows_films_with_prices(client: httpx.AsyncClient) -> None:
    hits = (await get(client, "/marquee/cinemas", city=CINEMA.city.name.upper()))["cinemas"]
    assert CINEMA.cinema_id in {one["cinemaId"] for one in hits}
    shown = (await get(client, SHOWTIMES))["showtimes"]
    assert len(shown) == 2 * CINEMA.screens
    assert {one["currency"] for one in shown} == {CINEMA.city.country.currency}
    assert {one["ticketPrice"] for one in shown} == {CINEMA.ticket, round(0.8 * CINEMA.ticket, 2)}
    assert [one["startsAt"] for one in shown] == sorted(one["startsAt"] for one in shown)
    one_film = (await get(client, SHOWTIMES, movieId=shown[0]["movieId"]))["showtimes"]
    assert one_film == [shown[0]]


def test_a_programme_lasts_a_week() -> None:
    def titles(day: date) -> set[str]:
        return {show.film.title for show in films.shows(CINEMA, day)}

    assert titles(date(2026, 5, 4)) == titles(date(2026, 5, 10)) != titles(date(2026, 5, 11))


async def test_every_third_programme_takes_too_long(client: httpx.AsyncClient) -> None:
    assert [(await client.get(SHOWTIMES)).status_code for _ in range(6)] == [200, 200, 408, 200, 200, 408]


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/reel/3/movie/1", {}, 404),
        ("/reel/3/movie/1/credits", {}, 404),
        ("/reel/3/person/1", {}, 404),
        ("/marquee/cinemas", {"city": "Atlantis"}, 404),
        ("/marquee/cinemas/cin_0/showtimes", {}, 404),
        (SHOWTIMES, {"date": "2026-06-30"}, 400),
    ],
)
async def test_refusals_say_why(client: httpx.AsyncClient, path: str, query: dict[str, str], status: int) -> None:
    response = await client.get(path, params=query)
    assert response.status_code == status
    assert response.json()["detail"]
