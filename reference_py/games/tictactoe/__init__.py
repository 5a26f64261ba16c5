"""Tic-tac-toe for the search: the example of docs/write-a-search.md."""
