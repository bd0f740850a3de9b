"""What people may do, on the page of a real server: a user becomes an author, and says what may happen without being asked."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.server.page_world import Enter, page_world, press, read, sources_page
from tests.support.small_world import REMOVE
from ui.client import Client
from ui.leave import allow_tool, allowed_tools


@pytest.fixture
def enter(home: Path, tmp_path: Path) -> Iterator[Enter]:
    with page_world(home, tmp_path) as entering:
        yield entering


def accounts_page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.accounts import all_accounts

    all_accounts(client)


def leave_page(client: "Client") -> None:
    from ui.screens.leave import permissions

    permissions(client)


def drawn(page: Callable[[Client], None], client: Client) -> AppTest:
    return AppTest.from_function(page, default_timeout=60, kwargs={"client": client}).run()


def test_an_administrator_makes_a_user_an_author_who_need_not_log_in_again(enter: Enter) -> None:
    admin, user = enter("admin"), enter("user")
    sources = sources_page(user)
    assert "added by authors" in read(sources)
    accounts = drawn(accounts_page, admin)
    accounts.selectbox(key=f"role-{user.account.user.id}-user").set_value("author").run()
    accounts.button(key=f"give-{user.account.user.id}").click().run()
    assert not accounts.exception
    press(sources, "Look again")
    assert "Nothing was added yet." in read(sources)
    last = admin.account.user.id
    accounts.selectbox(key=f"role-{last}-admin").set_value("user").run()
    accounts.button(key=f"give-{last}").click().run()
    assert "this is the last administrator" in read(accounts)


def test_leave_is_given_and_taken_back_for_a_tool_whose_id_has_escapes(enter: Enter) -> None:
    user = enter("user")
    allow_tool(user, REMOVE.id)
    leave = drawn(leave_page, user)
    assert "DELETE" in read(leave)
    press(leave, "Have it ask again")
    assert "None: each call that may change something asks you." in read(leave)
    assert allowed_tools(user) == []
