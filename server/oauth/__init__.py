"""Keys by OAuth 2: consents with PKCE, tokens and their renewal, and what authorization servers say of themselves."""
