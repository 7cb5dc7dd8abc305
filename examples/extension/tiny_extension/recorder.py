"""An artefact of the Running Data Recorder: times of kernels, as JSON."""

import json

from harness.rdr import Recorder


class KernelTimes(Recorder):
    accepts = dict

    def export(self, export):
        return self.put(export, "json", json.dumps(self.content).encode())
