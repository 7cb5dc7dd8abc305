"""Whether a CI service runs this process: by its variables, or by what is left where they were hidden.

tox passes few variables on, ``sudo`` and ``docker run`` none; goldens must be as safe there. Nothing here imports
numpy or h5py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Says by itself whether this is CI; any other sign counts only where it is not set.
STATED = "MSDUMP_CI"
#: Environment variables that CI services set; a value that means "no" does not count.
VARIABLES = (
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "BUILD_NUMBER", "BUILDKITE", "TEAMCITY_VERSION", "JENKINS_URL",
    "CIRCLECI", "TRAVIS", "APPVEYOR", "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID", "CIRRUS_CI", "DRONE",
    "SEMAPHORE", "GITEA_ACTIONS", "HARNESS_BUILD_ID", "PROW_JOB_ID", "TASKCLUSTER_ROOT_URL", "WOODPECKER_CI",
)  # fmt: skip
#: Variables of programs that start others with a small environment: their own ancestors know more.
HIDERS = ("TOX_ENV_NAME", "NOX_CURRENT_SESSION", "SUDO_COMMAND", "BAZEL_TEST", "HATCH_ENV_ACTIVE")
#: Where runners of CI services check out, as the beginning of a path; a container often sees no more of its service.
CHECKOUTS = (
    "/home/runner/work/", "/Users/runner/work/", "/__w/", "/github/workspace", "/builds/", "/drone/src",
    "/woodpecker/src", "/bitbucket/pipelines", "/opt/atlassian/pipelines", "/codebuild/output", "/var/jenkins_home/",
    "/var/lib/jenkins/", "/home/vsts/work/", "/home/circleci/project", "/buildkite/builds/",
)  # fmt: skip
_NO = frozenset({"", "0", "false", "no", "off"})
#: The most of a process's environment that is read, in bytes, and how many ancestors are asked.
_MOST, _GENERATIONS = 1 << 20, 32


def sign(
    environ: Mapping[str, str] = os.environ, folder: str | os.PathLike[str] = ".", processes: Path = Path("/proc")
) -> str:
    """What says that a CI service runs this process, in words; empty if nothing does.

    Args:
        environ: the process's environment. ``MSDUMP_CI`` there decides alone; a variable of ``VARIABLES`` that says
            "no" is no sign, and then nothing else is looked for.
        folder: the project's directory.
        processes: the system's list of processes; read only where a program of ``HIDERS`` runs.

    Examples:
        >>> from harness.ci import sign
        >>> sign({"CI": "true"}), sign({"CI": "false"}), sign({"MSDUMP_CI": "no", "CI": "true"})
        ('CI=true', '', '')
    """
    if STATED in environ:
        return _shown(STATED, environ[STATED]) if means_yes(environ[STATED]) else ""
    for name in VARIABLES:
        if name in environ and means_yes(environ[name]):
            return _shown(name, environ[name])
    if any(name in environ for name in VARIABLES):
        return ""
    if any(name in environ for name in HIDERS):
        for number, name, value in _of_ancestors(processes):
            return f"{_shown(name, value)} of process {number}, which started this one"
    return _checkout(os.path.abspath(folder))


def means_yes(value: str) -> bool:
    """Whether a variable's value says yes: anything but nothing, 0, false, no and off."""
    return value.strip().lower() not in _NO


def _shown(name: str, value: str) -> str:
    return f"{name}={value}" if value.isprintable() and len(value) <= 40 else name


def _checkout(folder: str) -> str:
    found = next((each for each in CHECKOUTS if f"{folder}/".startswith(each)), "")
    return f"the project lies in {found.rstrip('/')}, where CI services check out" if found else ""


def _of_ancestors(processes: Path) -> Iterator[tuple[int, str, str]]:
    """The variables of CI that ancestors of this process were started with: number, name and value, nearest first.
    Nothing where the system does not tell."""
    number = os.getppid()
    for _ in range(_GENERATIONS):
        if number <= 0:
            return
        try:
            with open(processes / str(number) / "environ", "rb") as file:
                found = dict(each.partition(b"=")[::2] for each in file.read(_MOST).split(b"\0"))
        except OSError:
            found = {}
        for name in VARIABLES:
            value = os.fsdecode(found.get(name.encode(), b""))
            if means_yes(value):
                yield number, name, value
        try:
            with open(processes / str(number) / "stat", "rb") as file:
                number = int(file.read(_MOST).rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
