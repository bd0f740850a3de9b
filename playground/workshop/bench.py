"""The bench: dockets, hands and spares."""

# The names are those of the API, which follows nobody's habits.
# ruff: noqa: N803

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from playground.apis.service import refusals, refuse
from playground.state import record_effect, state_of
from playground.workshop import world
from playground.workshop.bodies import (
    DocketRow,
    DocketSheet,
    Fitted,
    HandCard,
    Move,
    NewDocket,
    NewFitting,
    NewOrder,
    Openings,
    Order,
    Phase,
    Rows,
    SpareCard,
    Stretch,
    Supply,
    Work,
)
from playground.workshop.counter import Cursor, rows
from playground.worlds.clock import TODAY

router = APIRouter(prefix="/v1")
DocketNo = Annotated[str, Path(description="Number of the docket.", examples=["D2603"])]
SpareNo = Annotated[str, Path(description="Number of the spare.", examples=["S1011"])]


@router.get("/dockets", operation_id="docketIndex", summary="Look through the dockets")
async def docket_index(
    request: Request,
    phase: Annotated[Phase | None, Query(description="Only those in this phase.")] = None,
    handNo: Annotated[str | None, Query(description="Only those that this hand works on.", examples=["h2"])] = None,
    pieceNo: Annotated[str | None, Query(description="Only those of this instrument.", examples=["I007"])] = None,
    cursor: Cursor = None,
) -> Rows[DocketRow]:
    """Repairs, ten at a time, the first opened first."""
    found = [
        DocketRow.model_validate(one.model_dump())
        for one in sorted(_sheets(request).values(), key=lambda one: (one.opened, one.docketNo))
        if (phase is None or one.phase == phase)
        and (not handNo or one.handNo == handNo)
        and (not pieceNo or one.pieceNo == pieceNo)
    ]
    return rows(found, cursor)


@router.get(
    "/dockets/{docketNo}", operation_id="docketSheet", summary="A docket's sheet",
    responses=refusals(e404="No docket has this number."),
)  # fmt: skip
async def docket_sheet(request: Request, docketNo: DocketNo) -> DocketSheet:
    """Who works on a repair, what was done for how long, and which spares were fitted."""
    return _sheet(request, docketNo)


@router.post("/dockets", operation_id="openDocket", summary="Take an instrument in", status_code=201)
async def open_docket(request: Request, new: NewDocket) -> DocketSheet:
    """Open a docket for an instrument that is left for repair."""
    if all(one.number != new.piece.pieceNo for one in world.pieces()):
        refuse(404, f"No such instrument: {new.piece.pieceNo}.")
    effect = record_effect(request, new.model_dump(mode="json"))
    made = DocketSheet(
        docketNo=f"D{9000 + effect.at_seq}", pieceNo=new.piece.pieceNo, phase="waiting", opened=TODAY,
        promised=new.wish.by, handNo=None, labour=[], fitted=[], summary=new.wish.summary,
    )  # fmt: skip
    _sheets(request)[made.docketNo] = made
    return made


@router.patch(
    "/dockets/{docketNo}/phase", operation_id="moveDocket", summary="Move a docket on",
    responses=refusals(e404="No docket has this number."),
)  # fmt: skip
async def move_docket(request: Request, docketNo: DocketNo, move: Move) -> DocketSheet:
    """Say that a repair has got to another phase."""
    sheet = _sheet(request, docketNo)
    record_effect(request, {"docketNo": docketNo, "to": move.to})
    return _kept(request, sheet.model_copy(update={"phase": move.to}))


@router.post(
    "/dockets/{docketNo}/fitted", operation_id="noteFitting", summary="Note a spare as fitted",
    responses=refusals(e404="No docket, or no spare, has this number.", e409="There are not enough in the drawer."),
)  # fmt: skip
async def note_fitting(request: Request, docketNo: DocketNo, new: NewFitting) -> DocketSheet:
    """Take spares out of the drawer for a repair."""
    sheet, spare = _sheet(request, docketNo), _spare(request, new.spare.spareNo)
    if spare.drawer < new.spare.qty:
        refuse(409, f"Only {spare.drawer} of {spare.label} are in the drawer.")
    record_effect(request, {"docketNo": docketNo, **new.spare.model_dump()})
    _drawers(request)[spare.spareNo] = spare.model_copy(update={"drawer": spare.drawer - new.spare.qty})
    return _kept(request, sheet.model_copy(update={"fitted": [*sheet.fitted, new.spare]}))


@router.delete(
    "/dockets/{docketNo}", operation_id="voidDocket", summary="Void a docket", status_code=204,
    responses=refusals(e404="No docket has this number."),
)  # fmt: skip
async def void_docket(request: Request, docketNo: DocketNo) -> Response:
    """Strike a docket off the books for good."""
    _sheet(request, docketNo)
    record_effect(request, {"docketNo": docketNo})
    del _sheets(request)[docketNo]
    return Response(status_code=204)


@router.get("/hands", operation_id="handList", summary="Who works here")
async def hand_list() -> list[HandCard]:
    """All hands with the instruments that they mend, and what an hour of theirs costs."""
    return [
        HandCard(handNo=one.number, callname=one.name, crafts=list(one.crafts), centsPerHour=one.rate, dayOff=one.off)
        for one in world.hands()
    ]


@router.get(
    "/hands/{handNo}/openings", operation_id="handOpenings", summary="When a hand is free",
    responses=refusals(e404="No hand has this number."),
)  # fmt: skip
async def hand_openings(
    handNo: Annotated[str, Path(description="Number of the hand.", examples=["h2"])],
    week: Annotated[int, Query(ge=1, le=53, description="Week of the year.", examples=[21])],
) -> Openings:
    """The stretches of a week in which somebody is still free."""
    hand = next((one for one in world.hands() if one.number == handNo), None)
    if hand is None:
        refuse(404, f"No such hand: {handNo}.")
    free = [Stretch(day=day, at=at, mins=mins) for day, at, mins in world.openings(hand, week)]
    return Openings(handNo=handNo, week=week, free=free)


@router.get("/spares", operation_id="spareIndex", summary="Look through the spares")
async def spare_index(
    request: Request,
    fits: Annotated[
        str | None, Query(description="Only those for this kind of instrument.", examples=["cello"])
    ] = None,
    cursor: Cursor = None,
) -> Rows[SpareCard]:
    """Spare parts with price and stock, ten at a time."""
    found = [one for one in _drawers(request).values() if not fits or one.fits == fits.casefold()]
    return rows(found, cursor)


@router.get(
    "/spares/{spareNo}/supplies", operation_id="spareSupplies", summary="Who sells a spare",
    responses=refusals(e404="No spare has this number."),
)  # fmt: skip
async def spare_supplies(request: Request, spareNo: SpareNo) -> list[Supply]:
    """Firms that sell a spare to the workshop: their price, and how long they take."""
    _spare(request, spareNo)
    spare = next(one for one in world.spares() if one.number == spareNo)
    return [Supply(firm=firm, leadDays=days, centsEach=cents) for firm, days, cents in world.supplies(spare)]


@router.post(
    "/spares/{spareNo}/orders", operation_id="orderSpare", summary="Order a spare", status_code=201,
    responses=refusals(e404="No spare has this number.", e409="That firm does not sell it."),
)  # fmt: skip
async def order_spare(request: Request, spareNo: SpareNo, new: NewOrder) -> Order:
    """Order spares from a firm. Binding."""
    sold = {one.firm: one for one in await spare_supplies(request, spareNo)}
    if new.firm not in sold:
        refuse(409, f"{new.firm} does not sell {spareNo}.")
    effect = record_effect(request, {"spareNo": spareNo, **new.model_dump()})
    supply = sold[new.firm]
    return Order(
        **new.model_dump(), orderNo=f"B{500 + effect.at_seq}", spareNo=spareNo, totalCents=new.qty * supply.centsEach,
        due_in_days=supply.leadDays,
    )  # fmt: skip


def _sheets(request: Request) -> dict[str, DocketSheet]:
    kept = state_of(request).table(DocketSheet)
    if state_of(request).visit("dockets filled") == 1:
        for one in world.dockets():
            kept[one.number] = DocketSheet.model_validate(
                {
                    "docketNo": one.number, "pieceNo": one.piece, "phase": one.phase, "opened": one.opened,
                    "promised": one.promised, "handNo": one.hand,
                    "labour": [Work(what=what, mins=mins) for what, mins in one.labour],
                    "fitted": [Fitted(spareNo=spare, qty=qty) for spare, qty in one.fitted],
                }
            )  # fmt: skip
    return kept


def _drawers(request: Request) -> dict[str, SpareCard]:
    kept = state_of(request).table(SpareCard)
    if state_of(request).visit("drawers filled") == 1:
        for one in world.spares():
            kept[one.number] = SpareCard(
                spareNo=one.number, label=one.label, fits=one.fits, cents=one.price, drawer=one.drawer
            )
    return kept


def _sheet(request: Request, number: str) -> DocketSheet:
    found = _sheets(request).get(number)
    if found is None:
        refuse(404, f"No such docket: {number}.")
    return found


def _kept(request: Request, sheet: DocketSheet) -> DocketSheet:
    _sheets(request)[sheet.docketNo] = sheet
    return sheet


def _spare(request: Request, number: str) -> SpareCard:
    found = _drawers(request).get(number)
    if found is None:
        refuse(404, f"No such spare: {number}.")
    return found
