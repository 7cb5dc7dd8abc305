"""Runs converters of msaccucmp: ``python tests/interop/msaccucmp_formats.py JOBS.npz RESULTS.npz``.

For an interpreter that has ``mindstudio-probe``. ``JOBS.npz`` holds ``jobs``, JSON text: a list of objects with
``source``, ``target`` (formats), ``shape_from``, ``shape_to``, ``groups``; and the flat array of job 3 as ``a3``.
``RESULTS.npz`` gets the results under the same names, and ``formats`` and ``dtypes``, JSON objects of the numbers the
tool knows.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np


def main(given: str, wanted: str) -> None:
    """Converts every job."""
    spec = importlib.util.find_spec("msprobe")
    sys.path.insert(0, str(Path(spec.submodule_search_locations[0]) / "msaccucmp"))
    constants = importlib.import_module("cmp_utils.constant.const_manager")
    with np.load(given, allow_pickle=False) as file:
        jobs = json.loads(str(file["jobs"]))
        arrays = [file[f"a{i}"] for i in range(len(jobs))]
    results = {}
    for i, (job, array) in enumerate(zip(jobs, arrays, strict=True)):
        name = f"format_manager.builtin_format_convert.convert_{job['source']}_to_{job['target']}"
        groups = [job["groups"]] if job["groups"] > 1 else []
        results[f"a{i}"] = importlib.import_module(name).convert(job["shape_from"], job["shape_to"], array, *groups)
    enum = vars(constants.DD)
    results["formats"] = json.dumps(constants.ConstManager.STRING_TO_FORMAT_MAP)
    results["dtypes"] = json.dumps({name[3:]: number for name, number in enum.items() if name.startswith("DT_")})
    np.savez(wanted, **results)


if __name__ == "__main__":
    main(*sys.argv[1:])
