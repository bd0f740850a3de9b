"""Borrowell: the lending libraries' copies of books."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.state import record_effect, state_of
from playground.worlds import chance
from playground.worlds.loans import copies_of, copy_by_id

router = APIRouter(prefix="/borrowell", tags=["Books"])


class CopyItem(BaseModel):
    """A copy of a book."""

    copy_id: str = Field(description="Identifier of the copy.", examples=["cpy_44d1a0e9"])
    branch_city: str = Field(description="City of the library that has it.", examples=["Oskvik"])
    shelf_mark: str = Field(description="Where it stands.", examples=["C47"])
    due_back: str | None = Field(description="Day it comes back; null if it is on the shelf.", examples=["2026-05-19"])


class Copies(BaseModel):
    """All copies of a book."""

    isbn: str = Field(description="ISBN of the book.", examples=["9790123456785"])
    on_shelf: int = Field(description="How many can be taken home now.", examples=[1])
    copies: list[CopyItem]


class Claim(BaseModel):
    """A copy to be kept for a reader."""

    copy_id: str = Field(description="Identifier of the copy.", examples=["cpy_44d1a0e9"])
    card_number: str = Field(pattern=r"^\d{6}$", description="Number of the library card.", examples=["204418"])


class Hold(BaseModel):
    """A copy that is kept."""

    hold_id: str = Field(description="Identifier of the hold.", examples=["hld_0e55b1c7"])
    pick_up_city: str = Field(description="City of the library.", examples=["Oskvik"])


@router.get("/copies", operation_id="find_library_copies", summary="Copies of a book")
async def find_library_copies(
    isbn: Annotated[
        str, Query(min_length=10, max_length=17, description="ISBN, 13 digits.", examples=["9790123456785"])
    ],
) -> Copies:
    """Which libraries hold a book, where it stands there, and when copies on loan are due back."""
    found = [
        CopyItem(
            copy_id=one.copy_id,
            branch_city=one.branch.name,
            shelf_mark=one.shelf,
            due_back=one.due.isoformat() if one.due else None,
        )
        for one in copies_of(isbn)
    ]
    return Copies(isbn=isbn, on_shelf=sum(one.due_back is None for one in found), copies=found)


@router.post(
    "/holds",
    operation_id="place_hold",
    summary="Keep a copy for me",
    status_code=201,
    responses=refusals(e404="No copy has this identifier.", e409="The copy is kept for somebody already."),
)
async def place_hold(request: Request, claim: Claim) -> Hold:
    """Keep a copy of a book for the holder of a library card, for seven days."""
    copy = copy_by_id(claim.copy_id)
    if copy is None:
        refuse(404, f"No such copy: {claim.copy_id}.")
    kept = state_of(request).table(Hold)
    if claim.copy_id in kept:
        refuse(409, "This copy is kept for somebody already.")
    effect = record_effect(request, claim.model_dump())
    kept[claim.copy_id] = Hold(
        hold_id=f"hld_{chance.identifier(8, 'hold', effect.at_seq)}", pick_up_city=copy.branch.name
    )
    return kept[claim.copy_id]


SERVICE = Service(router, "Borrowell", "Lending libraries: who has the book, and a copy kept for you.")
