"""What ``python -m societies`` does: the same as the command ``societies``."""

from societies.cli import main

main()
