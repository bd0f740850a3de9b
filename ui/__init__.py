"""The chat page: a client of the server, over HTTP alone."""

SERVER_ADDRESS = "FOOTPATH_SERVER_ADDRESS"
"""The environment variable that says where the server is."""
PAGE_PROXIES = "FOOTPATH_PAGE_PROXIES"
"""The one that names the proxies in front of the page whose X-Forwarded-For is believed: addresses and networks, comma-separated."""
