"""``python -m footpath``: the same as the command ``footpath``."""

from footpath.command import main

if __name__ == "__main__":
    main()
