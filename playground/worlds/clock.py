"""The day on which every service of the playground stands still: nothing depends on the wall clock."""

from datetime import date

TODAY = date(2026, 5, 4)
