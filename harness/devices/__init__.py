"""What a device is: capabilities, numerics, storage formats."""
