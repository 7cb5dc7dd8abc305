"""Holds what a run left against its golden: the gate of pytest and ``harness.check`` say the same in the same words."""
