"""What Matchday answers: everything under ``response``, teams and venues apart, as sports feeds have it."""

from pydantic import BaseModel, Field


class TeamRef(BaseModel):
    """A team in a list."""

    id: int = Field(description="The id of the team.", examples=[1000])
    name: str = Field(description="The name of the team.", examples=["Velmora Rovers"])


class TeamInfo(TeamRef):
    """A team."""

    country: str = Field(examples=["Veldania"])
    founded: int = Field(examples=[1902])
    league_id: int = Field(description="The id of the league it plays in.", examples=[40])


class Venue(BaseModel):
    """Where a team plays at home."""

    name: str = Field(description="The name of the stadium.", examples=["Park Velmora"])
    city: str = Field(description="The home city of the team.", examples=["Velmora"])
    capacity: int = Field(examples=[31200])


class TeamEntry(BaseModel):
    """A team with its stadium."""

    team: TeamInfo
    venue: Venue


class Teams(BaseModel):
    """The teams found."""

    results: int = Field(examples=[1])
    response: list[TeamEntry]


class SquadPlayer(BaseModel):
    """A player of a team."""

    player_id: int = Field(description="The id of the player.", examples=[70000])
    name: str = Field(examples=["Anselm Dunmarrow"])
    number: int = Field(description="Shirt number.", examples=[9])
    position: str = Field(examples=["Attacker"])
    age: int = Field(examples=[27])


class PlayerProfile(SquadPlayer):
    """All about a player."""

    birth_date: str = Field(examples=["1999-02-11"])
    birth_city: str = Field(description="Place of birth.", examples=["Oskvik"])
    birth_country: str = Field(examples=["Veldania"])
    height_cm: int = Field(examples=[184])
    weight_kg: int = Field(examples=[78])
    goals: int = Field(description="Goals in the current season.", examples=[3])
    team_id: int = Field(examples=[1000])
    team_name: str = Field(examples=["Velmora Rovers"])


class Side(TeamRef):
    """A team in a match; goals are null before the match."""

    goals: int | None = Field(examples=[2])


class Fixture(BaseModel):
    """A match."""

    match_id: int = Field(description="The id of the match.", examples=[540010])
    round: int = Field(examples=[1])
    date: str = Field(examples=["2026-02-07"])
    status: str = Field(description="FT (full time) or NS (not started).", examples=["FT"])
    home: Side
    away: Side


class Fixtures(BaseModel):
    """Matches of a team."""

    results: int = Field(examples=[1])
    response: list[Fixture]


class Goal(BaseModel):
    """A goal."""

    team_id: int = Field(examples=[1000])
    player_id: int = Field(description="Who scored.", examples=[70000])
    player_name: str = Field(examples=["Anselm Dunmarrow"])


class MatchReport(Fixture):
    """A match with its place and its goals."""

    venue: Venue
    goals: list[Goal]


class Row(BaseModel):
    """A team's line in the table."""

    rank: int = Field(examples=[1])
    team: TeamRef
    played: int = Field(examples=[7])
    win: int = Field(examples=[5])
    draw: int = Field(examples=[1])
    lose: int = Field(examples=[1])
    goals_for: int = Field(examples=[14])
    goals_against: int = Field(examples=[6])
    points: int = Field(description="Three for a win, one for a draw.", examples=[16])


class Table(BaseModel):
    """The table of a league."""

    league_id: int = Field(examples=[40])
    league_name: str = Field(examples=["Veldania Eliteserie"])
    season: int = Field(examples=[2026])
    standings: list[Row]
