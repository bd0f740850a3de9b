"""What the workshop's operations take and answer: its own names, bodies in bodies, money in cents, identifiers that are texts."""

# The names are those of the API, which follows nobody's habits.
# ruff: noqa: N815

from datetime import date
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, Field

Row = TypeVar("Row")
Phase = Literal["waiting", "bench", "ready", "collected"]


class Turn(BaseModel):
    """Where a list goes on."""

    of: int = Field(description="How many rows there are in all.")
    next: str | None = Field(description="Give it as 'cursor' to get the following rows; null at the end.")


class Rows(BaseModel, Generic[Row]):
    """A part of a list."""

    rows: list[Row]
    turn: Turn


class Name(BaseModel):
    given: str
    family: str


class PatronRow(BaseModel):
    patronNo: str = Field(examples=["P-407"])
    nm: Name
    town: str


class Standing(BaseModel):
    discountPct: int = Field(description="What is taken off every bill, in percent.")
    owesCents: int = Field(description="Unpaid bills, in cents.")


class PatronCard(PatronRow):
    since: date
    standing: Standing


class PieceCard(BaseModel):
    pieceNo: str = Field(examples=["I007"])
    kept_by: str = Field(description="Number of the patron whose instrument it is.")
    sort: str = Field(description="Kind of instrument.", examples=["cello"])
    maker: str
    built: int = Field(description="Year.")
    insured_cents: int


class DocketRow(BaseModel):
    docketNo: str = Field(examples=["D2603"])
    pieceNo: str
    phase: Phase
    opened: date
    promised: date


class Work(BaseModel):
    what: str
    mins: int = Field(description="Minutes at the bench.")


class Fitted(BaseModel):
    spareNo: str = Field(description="Number of the spare.", examples=["S1011"])
    qty: int = Field(ge=1, le=20)


class DocketSheet(DocketRow):
    handNo: str | None = Field(description="Who does the work.")
    labour: list[Work]
    fitted: list[Fitted]
    summary: str | None = None


class HandCard(BaseModel):
    handNo: str = Field(examples=["h2"])
    callname: str
    crafts: list[str] = Field(description="Kinds of instruments.")
    centsPerHour: int
    dayOff: str = Field(examples=["Wed"])


class Stretch(BaseModel):
    day: str
    at: str
    mins: int


class Openings(BaseModel):
    handNo: str
    week: int
    free: list[Stretch]


class SpareCard(BaseModel):
    spareNo: str
    label: str
    fits: str = Field(description="Kind of instrument.")
    cents: int = Field(description="Selling price.")
    drawer: int = Field(description="Pieces in the drawer.")


class Supply(BaseModel):
    firm: str
    leadDays: int
    centsEach: int


class PieceRef(BaseModel):
    pieceNo: str = Field(examples=["I007"])


class Wish(BaseModel):
    summary: str = Field(min_length=2, max_length=200, description="What is wrong with it.")
    by: date = Field(description="Day by which it is wanted.")


class NewDocket(BaseModel):
    """An instrument that is left for repair."""

    piece: PieceRef
    wish: Wish


class Move(BaseModel):
    to: Phase = Field(description="The phase that it goes to.")


class NewFitting(BaseModel):
    spare: Fitted


class NewOrder(BaseModel):
    firm: str = Field(examples=["Casa Lopes"])
    qty: int = Field(ge=1, le=100)


class Order(NewOrder):
    orderNo: str
    spareNo: str
    totalCents: int
    due_in_days: int


class Forgiven(BaseModel):
    patronNo: str
    owesCents: int
