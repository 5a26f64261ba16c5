"""Which models come with Societies? Each is one file of Python; docs/models.md describes them."""
