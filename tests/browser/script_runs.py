"""What a page's browser and Streamlit send each other: which actions have left the browser, and whether their run of the script has ended."""

from collections.abc import Callable
from time import monotonic
from weakref import WeakKeyDictionary

from playwright.sync_api import Page, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class ScriptRuns:
    """Follows the web socket of one page.

    The page's own mark (``data-test-script-state``) changes only when the server has begun a run, so that for a moment after each action it
    says of a page that is about to be drawn anew that nothing runs. A click in that moment hits a button that is being replaced, and is lost.
    """

    def __init__(self, page: Page) -> None:
        self.actions = 0
        """Messages of the browser that ask for a run, but for those of a fragment that asks again by itself."""
        self._page = page
        self._is_due = True
        self._has_begun = False
        page.on("websocket", self._connect)

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Let the browser's messages come until the condition holds; whether it does."""
        deadline = monotonic() + seconds
        # A message of the last action may still be on its way: a turn of the page's own loop comes after it.
        self._page.evaluate("() => new Promise(done => setTimeout(done))")
        while not (holds := condition()) and monotonic() < deadline:
            self._page.wait_for_timeout(20)
        return holds

    def wait_until_ended(self, seconds: float) -> bool:
        """Wait for the end of the run that the last action asked for; whether it has come."""
        return self.wait_for(lambda: not self._is_due, seconds)

    def _connect(self, socket: WebSocket) -> None:
        self._is_due, self._has_begun = True, False
        socket.on("framesent", self._note_sent)
        socket.on("framereceived", self._note_received)

    def _note_sent(self, payload: bytes | str) -> None:
        if isinstance(payload, bytes):
            message = BackMsg.FromString(payload)
            if message.WhichOneof("type") == "rerun_script" and not message.rerun_script.is_auto_rerun:
                self.actions += 1
                self._is_due, self._has_begun = True, False

    def _note_received(self, payload: bytes | str) -> None:
        if not self._is_due or not isinstance(payload, bytes):
            return
        kind = ForwardMsg.FromString(payload).WhichOneof("type")
        if kind == "new_session":
            self._has_begun = True
        elif kind == "script_finished" and self._has_begun:
            self._is_due = False


_FOLLOWED: WeakKeyDictionary[Page, ScriptRuns] = WeakKeyDictionary()


def follow_runs(page: Page) -> ScriptRuns:
    """Follow a page from before it is opened on; the same object for each later call."""
    return _FOLLOWED.get(page) or _FOLLOWED.setdefault(page, ScriptRuns(page))
