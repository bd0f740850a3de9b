from types import SimpleNamespace
from typing import cast

import pytest

from domain.errors import UsageError
from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import ToolId
from server.routes.drawn_documents import check_document
from server.services import Services

SERVICES = cast(Services, SimpleNamespace(settings=SimpleNamespace(max_depth=5)))
FORWARD = PlanDocument(steps=(PlannedStep(tool=ToolId("a/b/c"), takes={"p": Take(step=41, field="x")}),))


@pytest.mark.parametrize("proven", [None, PlanDocument(steps=())])
async def test_a_value_from_nowhere_is_refused_whatever_the_run_did(proven: PlanDocument | None) -> None:
    with pytest.raises(UsageError):
        await check_document(FORWARD, None, SERVICES, proven)
