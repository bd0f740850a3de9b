"""Plans that people read, edit, approve and supply: how they are drafted, checked, filled in and carried out."""
