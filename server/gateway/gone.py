"""What the protocol's package meets where a client has gone while it is answered."""

from anyio import BrokenResourceError, ClosedResourceError

CLIENT_GONE = (BrokenResourceError, ClosedResourceError)
