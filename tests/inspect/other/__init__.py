"""A second generator of sick trainings, of another hand than ``harness.testing.sick``: other networks, other losses,
faults that are expressed otherwise. It did not shape the rules; they are held against it."""
