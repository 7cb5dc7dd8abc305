"""Every row of a table of observed facts has a witness: something recorded of the real MindSpore that fails without it."""
