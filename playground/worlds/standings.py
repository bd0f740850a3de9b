"""The table of a league, counted from its matches."""

from dataclasses import dataclass

from playground.worlds.sports import League, Team, matches, teams


@dataclass(slots=True)
class Line:
    """What a team has reached."""

    team: Team
    win: int = 0
    draw: int = 0
    lose: int = 0
    scored: int = 0
    conceded: int = 0

    @property
    def points(self) -> int:
        """Three for a win, one for a draw."""
        return 3 * self.win + self.draw

    def count(self, scored: int, conceded: int) -> None:
        """Add a match."""
        self.win += scored > conceded
        self.draw += scored == conceded
        self.lose += scored < conceded
        self.scored += scored
        self.conceded += conceded


def standings(league: League) -> list[Line]:
    """The best first: points, then the difference of goals, then goals, then the name."""
    lines = {team.team_id: Line(team) for team in teams() if team.league is league}
    for match in matches():
        if match.league is league and match.played:
            home, away = len(match.home_goals), len(match.away_goals)
            lines[match.home.team_id].count(home, away)
            lines[match.away.team_id].count(away, home)
    return sorted(
        lines.values(),
        key=lambda line: (-line.points, line.conceded - line.scored, -line.scored, line.team.name),
    )
