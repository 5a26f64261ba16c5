"""Models of one file each, in Python alone; docs/models.md describes them."""
