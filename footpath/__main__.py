"""Entry point of ``python -m footpath``, which is the command ``footpath``."""

from footpath.command import main

if __name__ == "__main__":
    main()
