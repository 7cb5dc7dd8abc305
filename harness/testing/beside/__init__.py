"""Random networks built twice, with PyTorch and with the harness (extra ``torch``): equal pairs, and pairs with a
fault."""
