"""Kepler orbits in plain numpy."""

import numpy as np


def eccentric_anomaly(mean, eccentricity, steps=20):
    """Solves Kepler's equation by Newton's method; radians, shape of ``mean``."""
    anomaly = np.array(mean, dtype=np.float64)
    for _ in range(steps):
        anomaly -= (anomaly - eccentricity * np.sin(anomaly) - mean) / (1 - eccentricity * np.cos(anomaly))
    return anomaly


def position(mean, axis, eccentricity):
    """x and y in units of ``axis``, shape [N, 2]."""
    anomaly = eccentric_anomaly(mean, eccentricity)
    x = axis * (np.cos(anomaly) - eccentricity)
    y = axis * np.sqrt(1 - eccentricity**2) * np.sin(anomaly)
    return np.stack([x, y], axis=-1)
