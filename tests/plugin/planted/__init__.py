"""Faults drawn from a seed and planted in small repositories that have goldens: what a reader of the gate is told."""
