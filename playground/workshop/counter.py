"""The counter: patrons and their instruments."""

# The names are those of the API, which follows nobody's habits.
# ruff: noqa: N803

from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query, Request

from playground.apis.service import refusals, refuse
from playground.state import record_effect, state_of
from playground.workshop import world
from playground.workshop.bodies import Forgiven, Name, PatronCard, PatronRow, PieceCard, Rows, Standing, Turn

router = APIRouter(prefix="/v1")
Cursor = Annotated[str | None, Query(description="Where to go on: 'turn.next' of the rows before.")]
T = TypeVar("T")
_ROWS = 10


def rows(found: Sequence[T], cursor: str | None) -> Rows[T]:
    """Ten of what was found."""
    start = int(cursor[1:]) if cursor and cursor[1:].isdigit() else 0
    after = start + _ROWS
    return Rows(
        rows=list(found[start:after]), turn=Turn(of=len(found), next=f"c{after}" if after < len(found) else None)
    )


@router.get("/patrons", operation_id="patronIndex", summary="Look through the patrons")
async def patron_index(
    family: Annotated[str | None, Query(description="Only those of this family name.", examples=["Kestrel"])] = None,
    town: Annotated[str | None, Query(description="Only those who live there.", examples=["Stell"])] = None,
    cursor: Cursor = None,
) -> Rows[PatronRow]:
    """People who bring instruments, ten at a time."""
    found = [
        _row(one)
        for one in world.patrons()
        if (not family or one.family.casefold() == family.casefold())
        and (not town or one.town.casefold() == town.casefold())
    ]
    return rows(found, cursor)


@router.get(
    "/patrons/{patronNo}", operation_id="patronCard", summary="A patron's card",
    responses=refusals(e404="No patron has this number."),
)  # fmt: skip
async def patron_card(request: Request, patronNo: Annotated[str, Path(examples=["P-407"])]) -> PatronCard:
    """Since when somebody is a patron, what discount they have, and what they owe."""
    one = _patron(patronNo)
    owes = state_of(request).table(Forgiven).get(one.number)
    standing = Standing(discountPct=one.discount, owesCents=owes.owesCents if owes else one.owes)
    return PatronCard(**_row(one).model_dump(), since=one.joined, standing=standing)


@router.get(
    "/patrons/{patronNo}/pieces", operation_id="patronPieces", summary="A patron's instruments",
    responses=refusals(e404="No patron has this number."),
)  # fmt: skip
async def patron_pieces(patronNo: Annotated[str, Path(examples=["P-407"])]) -> list[PieceCard]:
    """All instruments that somebody has on the books."""
    owner = _patron(patronNo)
    return [_piece(one) for one in world.pieces() if one.patron == owner.number]


@router.post(
    "/patrons/{patronNo}/settle", operation_id="settleAccount", summary="Settle a patron's account",
    responses=refusals(e404="No patron has this number."),
)  # fmt: skip
async def settle_account(request: Request, patronNo: Annotated[str, Path(examples=["P-407"])]) -> Forgiven:
    """Write down that everything a patron owes was paid."""
    one = _patron(patronNo)
    record_effect(request, {"patronNo": one.number})
    state_of(request).table(Forgiven)[one.number] = Forgiven(patronNo=one.number, owesCents=0)
    return Forgiven(patronNo=one.number, owesCents=0)


@router.get(
    "/pieces/{pieceNo}", operation_id="pieceCard", summary="An instrument's card",
    responses=refusals(e404="No instrument has this number."),
)  # fmt: skip
async def piece_card(pieceNo: Annotated[str, Path(examples=["I007"])]) -> PieceCard:
    """What an instrument is, who made it, whose it is."""
    found = next((one for one in world.pieces() if one.number == pieceNo), None)
    if found is None:
        refuse(404, f"No such instrument: {pieceNo}.")
    return _piece(found)


def _patron(number: str) -> world.Patron:
    found = next((one for one in world.patrons() if one.number == number), None)
    if found is None:
        refuse(404, f"No such patron: {number}.")
    return found


def _row(one: world.Patron) -> PatronRow:
    return PatronRow(patronNo=one.number, nm=Name(given=one.given, family=one.family), town=one.town)


def _piece(one: world.Piece) -> PieceCard:
    return PieceCard(
        pieceNo=one.number, kept_by=one.patron, sort=one.kind, maker=one.maker, built=one.built, insured_cents=one.worth
    )
