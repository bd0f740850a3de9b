"""Matchday: teams, players, matches and tables of football leagues."""

from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from playground.apis.matchday_models import (
    Fixture,
    Fixtures,
    Goal,
    MatchReport,
    PlayerProfile,
    Row,
    Side,
    SquadPlayer,
    Table,
    TeamEntry,
    TeamInfo,
    TeamRef,
    Teams,
    Venue,
)
from playground.apis.service import Service, refusals, refuse
from playground.failures import busy, fails
from playground.worlds import sports
from playground.worlds.clock import TODAY
from playground.worlds.standings import standings

router = APIRouter(prefix="/matchday/v3", tags=["Sports"])
_TEAM = refusals(e404="No team has this id.")
Status = Literal["FT", "NS"]
TeamId = Annotated[int, Path(alias="teamId", description="The id of the team", examples=[1000])]


@router.get("/teams", operation_id="searchTeams", summary="Teams")
async def search_teams(
    search: Annotated[str, Query(min_length=3, description="The name of the team or its city", examples=["Velmora"])],
    league: Annotated[int | None, Query(description="The id of the league", examples=[40])] = None,
) -> Teams:
    """Get the list of available teams. Football clubs by name, with team id, league id, home city and stadium."""
    wanted = set(search.casefold().split())
    found = [
        _entry(team)
        for team in sports.teams()
        if wanted <= set(team.name.casefold().split()) and league in (None, team.league.league_id)
    ]
    return Teams(results=len(found), response=found)


@router.get("/teams/{teamId}/players", operation_id="getTeamSquad", summary="Players squads", responses=_TEAM)
async def get_team_squad(team_id: TeamId) -> list[SquadPlayer]:
    """Return the current squad of a team: player ids, shirt numbers, positions and ages."""
    return [_player(player) for player in sports.squad(_team(team_id))]


@router.get(
    "/players/{playerId}",
    operation_id="getPlayer",
    summary="Player",
    responses=refusals(e404="No player has this id."),
)
async def get_player(
    player_id: Annotated[int, Path(alias="playerId", description="The id of the player", examples=[70000])],
) -> PlayerProfile:
    """Profile and season statistics of a player: birth date and place, height, weight, team, goals scored."""
    player = sports.player_by_id(player_id)
    if player is None:
        refuse(404, f"No player has the id {player_id}.")
    return PlayerProfile(
        **_player(player).model_dump(),
        birth_date=player.born.isoformat(),
        birth_city=player.birth_city.name,
        birth_country=player.birth_city.country.name,
        height_cm=player.height,
        weight_kg=player.weight,
        goals=sports.goals_of(player),
        team_id=player.team.team_id,
        team_name=player.team.name,
    )


@router.get("/teams/{teamId}/fixtures", operation_id="getTeamFixtures", summary="Fixtures", responses=_TEAM)
async def get_team_fixtures(
    team_id: TeamId,
    status: Annotated[Status | None, Query(description="FT: finished matches. NS: matches not started.")] = None,
    since: Annotated[date | None, Query(alias="from", description="YYYY-MM-DD, first day")] = None,
    until: Annotated[date | None, Query(alias="to", description="YYYY-MM-DD, last day")] = None,
) -> Fixtures:
    """All matches of one team in the season, by date: finished ones with the score, upcoming ones with the opponent."""
    found = [
        _fixture(match)
        for match in sports.matches_of(_team(team_id))
        if status in (None, _status(match)) and (since or match.day) <= match.day <= (until or match.day)
    ]
    return Fixtures(results=len(found), response=found)


@router.get(
    "/matches/{matchId}",
    operation_id="getMatch",
    summary="Match report",
    responses=refusals(e404="No match has this id."),
)
async def get_match(
    match_id: Annotated[int, Path(alias="matchId", description="The id of the match", examples=[540011])],
) -> MatchReport:
    """Result of a match with its venue and every goal scorer."""
    match = sports.match_by_id(match_id)
    if match is None:
        refuse(404, f"No match has the id {match_id}.")
    goals = [_goal(match.home, shirt) for shirt in match.home_goals] + [
        _goal(match.away, one) for one in match.away_goals
    ]
    return MatchReport(**_fixture(match).model_dump(), venue=_entry(match.home).venue, goals=goals)


@router.get(
    "/leagues/{leagueId}/standings",
    operation_id="getStandings",
    summary="Standings",
    responses=refusals(e404="No league has this id.", e429="Too many requests; see Retry-After."),
    dependencies=[fails(busy(every=2))],
)
async def get_standings(
    league_id: Annotated[int, Path(alias="leagueId", description="The id of the league, from a team", examples=[40])],
    season: Annotated[int, Query(ge=2026, le=2026, description="The season of the league")] = sports.SEASON,
) -> Table:
    """League table: rank, points, wins, draws, defeats and goals of all teams. Rate limited on the free plan."""
    league = sports.league_by_id(league_id)
    if league is None:
        refuse(404, f"No league has the id {league_id}.")
    rows = [
        Row(
            rank=rank,
            team=TeamRef(id=line.team.team_id, name=line.team.name),
            played=line.win + line.draw + line.lose,
            win=line.win,
            draw=line.draw,
            lose=line.lose,
            goals_for=line.scored,
            goals_against=line.conceded,
            points=line.points,
        )
        for rank, line in enumerate(standings(league), start=1)
    ]
    return Table(league_id=league_id, league_name=league.name, season=season, standings=rows)


def _team(team_id: int) -> sports.Team:
    found = sports.team_by_id(team_id)
    if found is None:
        refuse(404, f"No team has the id {team_id}.")
    return found


def _status(match: sports.Match) -> Status:
    return "FT" if match.played else "NS"


def _entry(team: sports.Team) -> TeamEntry:
    info = TeamInfo(
        id=team.team_id,
        name=team.name,
        country=team.league.country.name,
        founded=team.founded,
        league_id=team.league.league_id,
    )
    return TeamEntry(team=info, venue=Venue(name=team.stadium, city=team.city.name, capacity=team.capacity))


def _player(player: sports.Player) -> SquadPlayer:
    return SquadPlayer(
        player_id=player.player_id,
        name=player.name,
        number=player.shirt,
        position=player.position,
        age=TODAY.year - player.born.year - ((TODAY.month, TODAY.day) < (player.born.month, player.born.day)),
    )


def _fixture(match: sports.Match) -> Fixture:
    home, away = (len(match.home_goals), len(match.away_goals)) if match.played else (None, None)
    return Fixture(
        match_id=match.match_id,
        round=match.round,
        date=match.day.isoformat(),
        status=_status(match),
        home=Side(id=match.home.team_id, name=match.home.name, goals=home),
        away=Side(id=match.away.team_id, name=match.away.name, goals=away),
    )


def _goal(team: sports.Team, shirt: int) -> Goal:
    scorer = sports.squad(team)[shirt - 1]
    return Goal(team_id=team.team_id, player_id=scorer.player_id, player_name=scorer.name)


SERVICE = Service(router, "Matchday", "Football data: 8 leagues, 48 teams, all matches of the season.")
