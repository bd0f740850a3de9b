"""A football league in each of eight countries: teams, players and a season played up to the playground's day."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.chance import words
from playground.worlds.clock import TODAY
from playground.worlds.geography import COUNTRIES, City, Country, cities
from playground.worlds.names import full_name

SEASON = 2026
FIRST_DAY = date(2026, 2, 7)
SQUAD = 11
_LEAGUES = {"XV": "Veldania Eliteserie", "XN": "Norvania Bundliga", "XC": "Liga Caldera", "XT": "Serie Tessaly",
            "XR": "Brasileiro Verde", "XA": "Ashford Premier Division", "XS": "Sundara Super League",
            "XB": "Boreal Soccer Conference"}  # fmt: skip
_NICKNAMES = words("Rovers Falcons Wanderers United Athletic Mariners Comets Foxes Dynamo Rangers Kestrels Lynx")
_POSITIONS = ("Goalkeeper", *("Defender",) * 4, *("Midfielder",) * 3, *("Attacker",) * 3)


@dataclass(frozen=True, slots=True)
class League:
    league_id: int
    name: str
    country: Country


@dataclass(frozen=True, slots=True)
class Team:
    """``city`` is its home; ``strength`` decides most matches."""

    team_id: int
    name: str
    city: City
    league: League
    stadium: str
    capacity: int
    founded: int
    strength: int


@dataclass(frozen=True, slots=True)
class Player:
    """``height`` in centimetres; ``weight`` in kilograms."""

    player_id: int
    name: str
    team: Team
    shirt: int
    position: str
    born: date
    birth_city: City
    height: int
    weight: int


@dataclass(frozen=True, slots=True)
class Match:
    """``home_goals`` and ``away_goals`` hold the shirt numbers of who scored; both are empty before it is played."""

    match_id: int
    league: League
    round: int
    day: date
    home: Team
    away: Team
    home_goals: tuple[int, ...]
    away_goals: tuple[int, ...]

    @property
    def played(self) -> bool:
        return self.day < TODAY


@cache
def leagues() -> tuple[League, ...]:
    """All leagues."""
    return tuple(
        League(40 + place, _LEAGUES[country.code], country)
        for place, country in enumerate(country for country in COUNTRIES if country.code in _LEAGUES)
    )


@cache
def teams() -> tuple[Team, ...]:
    """Six in each league, one in each city of its country; names are unique."""
    return tuple(_team(city, league) for league in leagues() for city in cities() if city.country is league.country)


@cache
def players() -> tuple[Player, ...]:
    """All players; names are unique."""
    return tuple(_player(team, place) for team in teams() for place in range(SQUAD))


@cache
def matches() -> tuple[Match, ...]:
    """The season of every league: each team meets each other twice, a round a week."""
    return tuple(match for league in leagues() for match in _season(league))


def team_by_id(team_id: int) -> Team | None:
    """The team of that number."""
    return next((team for team in teams() if team.team_id == team_id), None)


def league_by_id(league_id: int) -> League | None:
    """The league of that number."""
    return next((league for league in leagues() if league.league_id == league_id), None)


def player_by_id(player_id: int) -> Player | None:
    """The player of that number."""
    return next((player for player in players() if player.player_id == player_id), None)


def match_by_id(match_id: int) -> Match | None:
    """The match of that number."""
    return next((match for match in matches() if match.match_id == match_id), None)


def squad(team: Team) -> list[Player]:
    """The players of a team, by shirt number."""
    return [player for player in players() if player.team is team]


def matches_of(team: Team) -> list[Match]:
    """The matches of a team, by date."""
    return sorted((match for match in matches() if team in (match.home, match.away)), key=lambda match: match.day)


def goals_of(player: Player) -> int:
    """The goals of a player this season, counted from the matches."""
    scored = 0
    for match in matches_of(player.team):
        scorers = match.home_goals if match.home is player.team else match.away_goals
        scored += scorers.count(player.shirt)
    return scored


def _team(city: City, league: League) -> Team:
    position = cities().index(city)
    return Team(
        team_id=1000 + 13 * position,
        name=f"{city.name} {_NICKNAMES[(position * 5) % len(_NICKNAMES)]}",
        city=city,
        league=league,
        stadium=f"{chance.pick(('Estadio', 'Park', 'Arena', 'Field'), 'ground', city.name)} {city.name}",
        capacity=100 * chance.between(48, 720, "capacity", city.name),
        founded=chance.between(1878, 1969, "club", city.name),
        strength=chance.between(1, 9, "strength", city.name),
    )


def _player(team: Team, place: int) -> Player:
    number = teams().index(team) * SQUAD + place
    name = full_name("players", 2 * number + 1 if number < 250 else 2 * (number - 250))
    home = chance.between(0, 4, "abroad", name) < 3
    return Player(
        player_id=70_000 + 7 * number,
        name=name,
        team=team,
        shirt=place + 1,
        position=_POSITIONS[place],
        born=date(1990, 1, 1) + timedelta(days=chance.between(0, 5800, "born", name)),
        birth_city=chance.pick(
            [city for city in cities() if city.country is team.city.country or not home], "from", name
        ),
        height=chance.between(168, 198, "height", name),
        weight=chance.between(62, 92, "weight", name),
    )


def _season(league: League) -> list[Match]:
    """By the circle method, sides changing every round: an odd number of rounds later they have changed for each pair."""
    turning = [team for team in teams() if team.league is league]
    made: list[Match] = []
    rounds = len(turning) - 1
    for number in range(2 * rounds):
        day = FIRST_DAY + timedelta(days=14 * number)
        for home, away in zip(turning[: len(turning) // 2], reversed(turning), strict=False):
            sides = (away, home) if number % 2 else (home, away)
            made.append(_match(league, number + 1, day, *sides))
        turning = [turning[0], turning[-1], *turning[1:-1]]
    return made


def _match(league: League, number: int, day: date, home: Team, away: Team) -> Match:
    key = (home.name, away.name)
    played = day < TODAY
    return Match(
        match_id=500_000 + league.league_id * 1000 + number * 10 + home.team_id % 9,
        league=league,
        round=number,
        day=day,
        home=home,
        away=away,
        home_goals=_goals(home, away, 1, *key) if played else (),
        away_goals=_goals(away, home, 0, *key) if played else (),
    )


def _goals(side: Team, other: Team, bonus: int, *key: str) -> tuple[int, ...]:
    """The shirts of the scorers: midfielders and attackers."""
    most = max(1, min(5, 2 + (side.strength - other.strength) // 2 + bonus))
    count = chance.between(0, most, "goals", side.name, *key)
    return tuple(chance.between(6, SQUAD, "scorer", side.name, place, *key) for place in range(count))
