"""A season adds up: everybody meets everybody twice, tables and goals are counted from the matches."""

from collections import Counter
from datetime import timedelta

import httpx
import pytest

from playground.worlds import sports
from playground.worlds.clock import TODAY
from playground.worlds.standings import standings
from tests.unit.playground.asking import get

TEAM = sports.teams()[0]
LEAGUE = TEAM.league.league_id


def test_names_and_numbers_are_unique() -> None:
    for values in (
        [one.name for one in sports.teams()],
        [one.team_id for one in sports.teams()],
        [one.name for one in sports.players()],
        [one.player_id for one in sports.players()],
        [one.match_id for one in sports.matches()],
    ):
        assert len(set(values)) == len(values)


def test_each_pair_meets_once_at_home_and_once_away() -> None:
    for league in sports.leagues():
        pairs = Counter((one.home.name, one.away.name) for one in sports.matches() if one.league is league)
        assert set(pairs.values()) == {1}
        assert len(pairs) == 30
        assert all((away, home) in pairs for home, away in pairs)


def test_no_team_plays_twice_on_a_day_and_the_future_has_no_goals() -> None:
    for team in sports.teams():
        days = [one.day for one in sports.matches_of(team)]
        assert len(set(days)) == len(days) == 10
        assert days == sorted(days)
    assert not [one for one in sports.matches() if not one.played and (one.home_goals or one.away_goals)]
    assert {one.played for one in sports.matches()} == {True, False}


@pytest.mark.parametrize("league", sports.leagues(), ids=lambda league: league.name)
def test_a_table_adds_up(league: sports.League) -> None:
    table = standings(league)
    assert sum(line.win for line in table) == sum(line.lose for line in table)
    assert sum(line.draw for line in table) % 2 == 0
    assert sum(line.scored for line in table) == sum(line.conceded for line in table)
    assert [line.points for line in table] == sorted((line.points for line in table), reverse=True)
    assert {line.win + line.draw + line.lose for line in table} == {7}


def test_goals_of_players_are_those_of_the_matches() -> None:
    for team in sports.teams()[:6]:
        scored = sum(
            len(one.home_goals if one.home is team else one.away_goals) for one in sports.matches_of(team) if one.played
        )
        assert sum(sports.goals_of(player) for player in sports.squad(team)) == scored


async def test_the_services_agree_on_a_team(client: httpx.AsyncClient) -> None:
    entry = (await get(client, "/matchday/v3/teams", search=TEAM.city.name))["response"][0]
    assert entry["venue"]["city"] == TEAM.city.name
    team = f"/matchday/v3/teams/{entry['team']['id']}"
    squad = await get(client, f"{team}/players")
    assert [one["number"] for one in squad] == list(range(1, sports.SQUAD + 1))
    past = (await get(client, f"{team}/fixtures", status="FT"))["response"]
    coming = (await get(client, f"{team}/fixtures", status="NS"))["response"]
    assert len(past) + len(coming) == 10
    assert max(one["date"] for one in past) < TODAY.isoformat() < min(one["date"] for one in coming)
    assert coming[0]["home"]["goals"] is None
    report = await get(client, f"/matchday/v3/matches/{past[0]['match_id']}")
    assert len(report["goals"]) == report["home"]["goals"] + report["away"]["goals"]
    row = next(
        one
        for one in (await get(client, f"/matchday/v3/leagues/{entry['team']['league_id']}/standings"))["standings"]
        if one["team"]["id"] == TEAM.team_id
    )
    assert row["played"] == len(past)


async def test_fixtures_lie_between_two_days(client: httpx.AsyncClient) -> None:
    window = {"from": "2026-03-01", "to": "2026-04-01"}
    found = (await get(client, f"/matchday/v3/teams/{TEAM.team_id}/fixtures", **window))["response"]
    assert found
    assert all(window["from"] <= one["date"] <= window["to"] for one in found)


async def test_a_player_s_age_is_of_the_playground_s_day(client: httpx.AsyncClient) -> None:
    for player in sports.squad(TEAM):
        told = await get(client, f"/matchday/v3/players/{player.player_id}")
        assert 0 <= (TODAY - player.born).days - told["age"] * 365.25 + 1 <= 367
        assert told["birth_city"] == player.birth_city.name
        assert timedelta(days=16 * 365) < TODAY - player.born


async def test_every_second_table_is_one_too_many(client: httpx.AsyncClient) -> None:
    path = f"/matchday/v3/leagues/{LEAGUE}/standings"
    answers = [await client.get(path) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 429, 200, 429]
    assert answers[1].headers["retry-after"] == "1"


@pytest.mark.parametrize(
    "path", ["teams/1/players", "teams/1/fixtures", "players/1", "matches/1", "leagues/1/standings"]
)
async def test_refusals_say_why(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(f"/matchday/v3/{path}")
    assert response.status_code == 404
    assert "1" in response.json()["detail"]
