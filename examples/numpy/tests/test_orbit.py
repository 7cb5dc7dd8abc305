import numpy as np
import pytest
from orbit import eccentric_anomaly, position


@pytest.mark.parametrize("eccentricity", [0.0, 0.5])
def test_position(msdump, eccentricity):
    mean = np.linspace(0, 6, 13)
    msdump.check("anomaly", eccentric_anomaly(mean, eccentricity))
    msdump.check("position", position(mean, 1.0, eccentricity))
