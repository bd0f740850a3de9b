"""The names of operations, without what web frameworks put behind them to make them unique."""

import pytest

from agent.execution.call_wording import build_tool_title
from agent.text import format_tool_title, shorten_tool_name
from domain.tool import ToolDoc, make_tool_id


def tool(api: str, method: str = "GET", path: str = "/bookings", base: str = "http://garden.example") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "Garden", api), category="c", toolset="Garden", api=api, function=api, method=method, url=base + path
    )  # fmt: skip


@pytest.mark.parametrize(
    ("api", "method", "path", "name"),
    [
        ("cancel_booking_bookings__booking_id__delete", "DELETE", "/bookings/{booking_id}", "cancel_booking"),
        ("list_plots_plots_get", "GET", "/plots", "list_plots"),
        ("list_plots_plots_get", "GET", "/api/v2/plots", "list_plots"),
        ("read_root__get", "GET", "/", "read_root"),
        ("find_widget", "GET", "/widget", "find_widget"),
        ("plots_get", "GET", "/plots", "plots_get"),
        ("list_plots_get", "POST", "/plots", "list_plots_get"),
        ("get_forget", "GET", "/x", "get_forget"),
    ],
)
def test_the_path_and_the_method_behind_a_name_are_no_part_of_it(api: str, method: str, path: str, name: str) -> None:
    assert shorten_tool_name(tool(api, method, path)) == name


def test_people_read_the_given_name_everywhere() -> None:
    cancel = tool("cancel_booking_bookings__booking_id__delete", "DELETE", "/bookings/{booking_id}")
    assert build_tool_title(cancel) == "Cancel booking"
    assert format_tool_title(cancel) == "Garden/cancel_booking"
