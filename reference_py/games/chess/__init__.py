"""Chess: rules, perft, evaluation, a module for each question: this is the definition."""
