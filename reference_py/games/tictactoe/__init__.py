"""How is tic-tac-toe searched? It is the example of docs/write-a-search.md."""
