"""Every row of a table of observed facts has a witness: a recording of the real MindSpore that fails without it."""
