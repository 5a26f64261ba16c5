"""Which models come with Societies? Each is one file or folder; docs/models.md describes them."""
