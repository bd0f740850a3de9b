"""Plans that people read, edit, approve and give: how one is drafted, checked, filled and carried out."""
