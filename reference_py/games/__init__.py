"""Games: rules and searches, one package each."""
