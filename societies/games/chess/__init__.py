"""Chess: moves counted, searches, games."""
