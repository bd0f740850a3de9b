"""Football: the team's number first; tables are rationed, so that the second one has to wait."""

from collections.abc import Iterator
from typing import Any

from playground.scenarios.choice import told
from playground.scenarios.entities import Entries, some
from playground.session import Scenario, Session
from playground.worlds.sports import Team, teams

_SQUAD = ("Who plays for {team}?", "List the squad of {team}.", "Which goalkeeper does {team} have?")
_LAST = (
    "How did {team} play last?",
    "What was the result of the latest match of {team}?",
    "Did {team} win their last game?",
)
_NEXT = ("Who is the next opponent of {team}?", "When does {team} play next?")
_SCORER = ("Who scored in the last match of {team}?", "Which players scored when {team} last played?")
_RANK = (
    "On which place of the table is {team}?",
    "How many points does {team} have this season?",
    "Show me the league table of {team}.",
)
_AHEAD = (
    "Who has more points in their league, {team} or {other}?",
    "Compare the league ranks of {team} and {other}.",
)
_STADIUM = ("How many people fit into the stadium of {team}?", "In which city does {team} play at home?")
_WEATHER = ("What is the weather in the home city of {team}?", "Is it raining where {team} plays its home matches?")
_BORN = (
    "In which city was the {position} with number {shirt} of {team} born, and how many people live there?",
    "How big is the birthplace of number {shirt} of {team}, the {position}?",
)
_HEIGHT = ("How tall is the player with shirt {shirt} at {team}?", "What is the age of number {shirt} of {team}?")
_UNKNOWN = ("Who plays for {team}?",)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_SQUAD, _squad, _named(4, "squad"))
    yield from told(_LAST, _last, _named(5, "last"))
    yield from told(_NEXT, _next, _named(3, "next"))
    yield from told(_SCORER, _scorer, _named(4, "scorer"))
    yield from told(_RANK, _rank, _named(5, "rank"))
    pairs = zip(_teams(3, "ahead"), _teams(6, "behind")[3:], strict=True)
    yield from told(_AHEAD, _ahead, [{"team": one.name, "other": other.name} for one, other in pairs])
    yield from told(_STADIUM, _stadium, _named(3, "stadium"))
    yield from told(_WEATHER, _weather, _named(4, "weather"))
    shirts = [{**one, "shirt": 9 + at % 3, "position": "attacker"} for at, one in enumerate(_named(4, "born"))]
    yield from told(_BORN, _born, [{**one} for one in shirts])
    yield from told(_HEIGHT, _height, [{**one, "shirt": 2 + at} for at, one in enumerate(_named(3, "height"))])
    yield from told(_UNKNOWN, _unknown, [{"team": "Utopia Wasps"}])


def _teams(count: int, key: str) -> list[Team]:
    return some(teams(), lambda team: team.name, count, "teams", key)


def _named(count: int, key: str) -> Entries:
    return [{"team": team.name} for team in _teams(count, key)]


def _team(session: Session, team: str) -> dict[str, Any]:
    return session.call("searchTeams", search=team)["response"][0]


def _squad(session: Session, team: str) -> None:
    players = session.call("getTeamSquad", teamId=_team(session, team)["team"]["id"])
    session.answer(f"{team}: " + ", ".join(f"{one['name']} ({one['position']})" for one in players) + ".")


def _matches(session: Session, team: str, status: str) -> list[dict[str, Any]]:
    number = _team(session, team)["team"]["id"]
    return session.call("getTeamFixtures", teamId=number, status=status)["response"]


def _last(session: Session, team: str) -> None:
    session.answer(f"On {_told(_matches(session, team, 'FT')[-1])}.")


def _next(session: Session, team: str) -> None:
    match = _matches(session, team, "NS")[0]
    session.answer(f"On {match['date']}: {match['home']['name']} against {match['away']['name']}.")


def _scorer(session: Session, team: str) -> None:
    last = _matches(session, team, "FT")[-1]
    goals = session.call("getMatch", matchId=last["match_id"])["goals"]
    scorers = ", ".join(goal["player_name"] for goal in goals) or "nobody"
    session.answer(f"On {_told(last)}. Scorers: {scorers}.")


def _rank(session: Session, team: str) -> None:
    league = _team(session, team)["team"]["league_id"]
    row = _row(session.call("getStandings", leagueId=league), team)
    session.answer(f"{team} is on place {row['rank']} with {row['points']} points.")


def _ahead(session: Session, team: str, other: str) -> None:
    first = _row(session.call("getStandings", leagueId=_team(session, team)["team"]["league_id"]), team)
    league = _team(session, other)["team"]["league_id"]
    second = _row(session.at_second_try("getStandings", leagueId=league), other)
    session.answer(f"{team} has {first['points']} points, {other} has {second['points']}.")


def _stadium(session: Session, team: str) -> None:
    venue = _team(session, team)["venue"]
    session.answer(f"{team} plays at {venue['name']} in {venue['city']}, which holds {venue['capacity']}.")


def _weather(session: Session, team: str) -> None:
    city = _team(session, team)["venue"]["city"]
    place = session.call("search_places", city=city)["results"][0]
    now = session.call("get_current_weather", latitude=place["latitude"], longitude=place["longitude"])
    session.answer(f"In {city} it is {now['temperature']} °C with {now['condition']}.")


def _player(session: Session, team: str, shirt: int) -> dict[str, Any]:
    players = session.call("getTeamSquad", teamId=_team(session, team)["team"]["id"])
    number = next(one["player_id"] for one in players if one["number"] == shirt)
    return session.call("getPlayer", playerId=number)


def _born(session: Session, team: str, shirt: int, position: str) -> None:
    del position  # the shirt tells who it is
    player = _player(session, team, shirt)
    place = session.call("search_places", city=player["birth_city"])["results"][0]
    session.answer(f"{player['name']} was born in {place['city']}, where {place['population']} people live.")


def _height(session: Session, team: str, shirt: int) -> None:
    player = _player(session, team, shirt)
    session.answer(f"{player['name']} is {player['age']} years old and {player['height_cm']} cm tall.")


def _unknown(session: Session, team: str) -> None:
    session.call("searchTeams", search=team)
    session.give_up()


def _row(table: dict[str, Any], team: str) -> dict[str, Any]:
    return next(row for row in table["standings"] if row["team"]["name"] == team)


def _told(match: dict[str, Any]) -> str:
    home, away = match["home"], match["away"]
    return f"{match['date']}: {home['name']} {home['goals']} : {away['goals']} {away['name']}"
