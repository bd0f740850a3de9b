"""The page's screens, a module each."""
