"""How are games played and searched? Each game is a package."""
