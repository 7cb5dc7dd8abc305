"""Hosts that are network namespaces joined by a bridge, so that a link can be cut; else processes on the loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from functools import cache

_NET = "10.254.77"


def _ip(*words: str) -> bool:
    try:
        return subprocess.run(["ip", *words], capture_output=True, check=False, timeout=600).returncode == 0
    except OSError:
        return False


@cache
def why_not() -> str:
    """Why there can be no namespaces here; empty where there can."""
    if not shutil.which("ip"):
        return "there is no program ip (iproute2)"
    name = f"mdp{os.getpid()}"
    try:
        made = _ip("netns", "add", name) and _ip("-n", name, "link", "add", "name", "switch", "type", "bridge")
        made = made and _ip("-n", name, "link", "add", "name", "v0", "type", "veth", "peer", "name", "v1")
    finally:
        _ip("netns", "del", name)
    return "" if made else "this machine allows no network namespaces with a bridge"


class Loopback:
    """All hosts are this one."""

    def __init__(self) -> None:
        self.scheduler = "127.0.0.1"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def inside(self, host: str) -> list[str]:
        """What a command line begins with that runs on a host."""
        return []

    def close(self) -> None:
        """Nothing stays."""


class Namespaces:
    """A namespace for each host and for the scheduler, with a link to a bridge, which has one of its own."""

    def __init__(self, *hosts: str) -> None:
        self._number = os.getpid()
        self._switch = self._name("sw")
        self._all = ["head", *hosts]
        self.addresses = {host: f"{_NET}.{at}" for at, host in enumerate(self._all, 1)}
        self.scheduler, self.port = self.addresses["head"], 8786
        self._do("netns", "add", self._switch)
        self._do("-n", self._switch, "link", "add", "name", "switch", "type", "bridge")
        self._do("-n", self._switch, "link", "set", "dev", "switch", "up")
        for host in self._all:
            own = self._name(host)
            self._do("netns", "add", own)
            words = "link", "add", "name", f"to-{host}", "type", "veth", "peer", "name", "eth0", "netns", own
            self._do("-n", self._switch, *words)
            self._do("-n", self._switch, "link", "set", "dev", f"to-{host}", "master", "switch", "up")
            self._do("-n", own, "addr", "add", f"{self.addresses[host]}/24", "dev", "eth0")
            self._do("-n", own, "link", "set", "dev", "eth0", "up")
            self._do("-n", own, "link", "set", "dev", "lo", "up")

    def _name(self, host: str) -> str:
        return f"md{self._number}{host}"

    def _do(self, *words: str) -> None:
        assert _ip(*words), f"ip {' '.join(words)}"

    def inside(self, host: str) -> list[str]:
        return ["ip", "netns", "exec", self._name(host)]

    def link(self, host: str, state: str) -> str:
        """The command that cuts (``down``) or heals (``up``) a host's link."""
        return f"ip -n {self._switch} link set dev to-{host} {state}"

    def close(self) -> None:
        for name in (*map(self._name, self._all), self._switch):
            _ip("netns", "del", name)
