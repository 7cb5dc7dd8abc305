"""A reader's view of a summary directory, as JSON: ``summaries_view.py mindinsight|tensorboard DIRECTORY``."""

from __future__ import annotations

import contextlib
import glob
import json
import sys


def mindinsight(folder):
    """Values by plugin and tag."""
    from mindinsight.datavisual.data_transform.ms_data_loader import MSDataLoader

    loader = MSDataLoader(folder)
    for _ in range(2):  # the second time it takes over what its processes read
        loader.load(None)
    events, found = loader.get_events_data(), {}
    for tag in events.list_tags_by_plugin("scalar"):
        found[tag] = [[row.step, row.value] for row in events.tensors(tag)]
    for tag in events.list_tags_by_plugin("histogram"):
        found[tag] = [[row.step, row.value.count, row.value.max] for row in events.tensors(tag)]
    with contextlib.suppress(KeyError):
        found["graphs"] = len(events.list_tags_by_plugin("graph"))
    return found


def tensorboard(folder):
    """Step and version of each event."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    (path,) = glob.glob(folder + "/*_MS")
    return [[event.step, event.file_version] for event in LegacyEventFileLoader(path).Load()]


if __name__ == "__main__":
    print(json.dumps({"mindinsight": mindinsight, "tensorboard": tensorboard}[sys.argv[1]](sys.argv[2])))
