"""What is the text of a kernel, and where are its builds cached? Neither needs a device."""
