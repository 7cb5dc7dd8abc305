"""Trainings in several layouts beside one rank (extra ``torch``): right ones, and ones with a fault of parallel
training."""
