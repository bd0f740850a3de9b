"""How the wheel is built: setuptools makes it, then its packages are moved below ``footpath/`` (docs/adr/0024-a-library-and-a-wheel.md)."""
