"""Marquee: cinemas, what they show, and seats. Its programme is slow to come."""

from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from playground.apis.service import Service, refusals, refuse
from playground.apis.shapes import CamelBody
from playground.failures import fails, timeout
from playground.worlds import films
from playground.worlds.clock import TODAY
from playground.worlds.geography import city_named

router = APIRouter(prefix="/marquee", tags=["Movies"])
LAST_DAY = TODAY + timedelta(days=13)


class CinemaHit(CamelBody):
    """A cinema."""

    cinema_id: str = Field(description="Id of the cinema.", examples=["cin_4be10c77"])
    cinema_name: str = Field(examples=["Odeon Velmora"])
    screens: int = Field(examples=[4])
    city: str = Field(examples=["Velmora"])


class Cinemas(CamelBody):
    """The cinemas of a city."""

    cinemas: list[CinemaHit]


class Showtime(CamelBody):
    """A showing."""

    show_id: str = Field(examples=["shw_77aa01de"])
    movie_id: int = Field(description="Id of the film at ReelBase.", examples=[61000])
    film_title: str = Field(examples=["Shadows over Cinder Bay"])
    starts_at: str = Field(description="Local time.", examples=["2026-05-04T20:15"])
    screen: int = Field(examples=[2])
    ticket_price: float = Field(examples=[118.5])
    currency: str = Field(examples=["VDK"])


class Programme(CamelBody):
    """What a cinema shows on a day."""

    cinema_name: str = Field(examples=["Odeon Velmora"])
    date: str = Field(examples=["2026-05-04"])
    showtimes: list[Showtime]


@router.get(
    "/cinemas", operation_id="findCinemas", summary="Cinemas near you", responses=refusals(e404="We are not there yet.")
)
async def find_cinemas(
    city: Annotated[str, Query(min_length=2, description="The city you are in", examples=["Velmora"])],
) -> Cinemas:
    """Going out tonight? Find every movie theatre in your city."""
    place = city_named(city)
    if place is None:
        refuse(404, f"We are not in {city} yet.")
    found = [one for one in films.cinemas() if one.city is place]
    return Cinemas(cinemas=[_hit(cinema) for cinema in found])


@router.get(
    "/cinemas/{cinemaId}/showtimes",
    operation_id="getShowtimes",
    summary="Showtimes of a cinema",
    responses=refusals(e400="The programme is not out yet.", e404="No such cinema.", e408="It took too long."),
    dependencies=[fails(timeout(every=3))],
)
async def get_showtimes(
    cinema_id: Annotated[
        str, Path(alias="cinemaId", description="From the list of cinemas", examples=["cin_4be10c77"])
    ],
    day: Annotated[date | None, Query(alias="date", description="The day (today if you leave it out)")] = None,
    movie_id: Annotated[int | None, Query(alias="movieId", description="Only this film", examples=[61000])] = None,
) -> Programme:
    """Films, showtimes, screens and ticket prices for one cinema and one day. Matinees are cheaper!"""
    cinema = films.cinema_by_id(cinema_id)
    if cinema is None:
        refuse(404, f"No cinema has the id {cinema_id}.")
    on = day or TODAY
    if not TODAY <= on <= LAST_DAY:
        refuse(400, f"The programme goes from {TODAY} to {LAST_DAY}.")
    shown = [show for show in films.shows(cinema, on) if movie_id in (None, show.film.film_id)]
    return Programme(
        cinema_name=cinema.name,
        date=on.isoformat(),
        showtimes=[_showtime(cinema, show) for show in shown],
    )


def _hit(cinema: films.Cinema) -> CinemaHit:
    return CinemaHit(cinema_id=cinema.cinema_id, cinema_name=cinema.name, screens=cinema.screens, city=cinema.city.name)


def _showtime(cinema: films.Cinema, show: films.Show) -> Showtime:
    return Showtime(
        show_id=show.show_id,
        movie_id=show.film.film_id,
        film_title=show.film.title,
        starts_at=f"{show.day.isoformat()}T{show.time}",
        screen=show.screen,
        ticket_price=show.price,
        currency=cinema.city.country.currency,
    )


SERVICE = Service(router, "Marquee", "Never miss a premiere: cinema listings for every town.")
