"""The recorder's configuration: environment variables, then the file of ``env_config_path`` over them, key by key.

Sources, order, messages and levels: MindSpore 2.7.0, measured. Nothing here raises: a wrong value is logged, and the
previous one stays.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness import log
from harness.errors import ArtefactError
from harness.rdr import paths
from harness.reading import read_bytes

ENABLE, MODE, PATH = "MS_RDR_ENABLE", "MS_RDR_MODE", "MS_RDR_PATH"
EXCEPTIONAL, NORMAL = 1, 2
"""Modes: export when something fails; export also after each compilation and at the end of the process."""
DEFAULT_PATH = "./"
#: bytes of the file, at most
_MAX_BYTES = 1 << 24
_log = log.get("rdr.config")


@dataclass(frozen=True, slots=True)
class RdrConfig:
    """The recorder's configuration.

    Attributes:
        enable: whether anything is recorded.
        mode: ``EXCEPTIONAL`` or ``NORMAL``.
        path: directory of the ``rank_N/rdr`` directories; ``./`` is resolved when something is written.
        mem_reuse: ``sys.mem_reuse`` of the same file.
        given: whether anything configured the recorder, on or off.
    """

    enable: bool = False
    mode: int = EXCEPTIONAL
    path: str = DEFAULT_PATH
    mem_reuse: bool = True
    given: bool = False


def resolve(environ: Mapping[str, str], env_config_path: str = "", platform: str = sys.platform) -> RdrConfig:
    """The configuration of a process.

    Args:
        environ: the environment variables; an empty value counts as none.
        env_config_path: path of the file, or empty.
        platform: as ``sys.platform``; the recorder exists on Linux only.
    """
    config = from_environment(environ)
    if env_config_path:
        config = from_file(config, env_config_path)
    if config.enable and platform != "linux":
        _log.warning("rdr: only linux is supported; the recorder stays off on %s", platform)
        config = replace(config, enable=False)
    if config.given and not config.enable:
        _log.warning("rdr: Not enabling RDR. %s=1 or rdr.enable of the env_config_path file enables it", ENABLE)
    return config


# --- environment ------------------------------------------------------------------------------------------------------


def from_environment(environ: Mapping[str, str]) -> RdrConfig:
    """The configuration from the variables; values are compared without trimming."""
    enable, mode, path = (environ.get(name, "") for name in (ENABLE, MODE, PATH))
    config = RdrConfig(given=bool(enable or mode or path))
    if enable not in ("", "0", "1"):
        _log.warning("rdr: the environment variable %s should be 0 or 1, got %r; the recorder is off", ENABLE, enable)
    if mode not in ("", "1", "2"):
        _log.warning("rdr: the environment variable %s should be 1 or 2, got %r; mode 1 is taken", MODE, mode)
    config = replace(config, enable=enable == "1", mode=NORMAL if mode == "2" else EXCEPTIONAL)
    if path:
        refused = paths.refusal(path)
        if refused is None:
            return replace(config, path=paths.stored(path))
        _log.log(
            refused.level,
            "rdr: RDR path parse from environment variable failed: %s. The default value: %r is taken. Detail: %s",
            PATH, config.path, refused.reason,
        )  # fmt: skip
    return config


# --- file -------------------------------------------------------------------------------------------------------------


def from_file(config: RdrConfig, file: str) -> RdrConfig:
    """``config``, overridden by the file of ``env_config_path``."""

    def refuse(told: str) -> ArtefactError:
        return ArtefactError(told.removeprefix(f"{file}: "))

    try:
        content = _strict(read_bytes(file, _MAX_BYTES, refuse).decode())
    except (ArtefactError, ValueError, RecursionError) as error:
        _log.warning("rdr: Env config json contents of %r cannot be taken (%s); the whole file is ignored", file, error)
        return config
    _log.info("rdr: Env config json:%s", json.dumps(content, sort_keys=True, separators=(",", ":")))
    config = _sys(_rdr(config, content), content)
    _log.info("rdr: After parsed, rdr_enable: %d, rdr mode: %d, rdr path: %s", config.enable, config.mode, config.path)
    return config


def _strict(text: str) -> Any:
    """JSON as MindSpore's parser takes it; ``ValueError`` for what only Python's parser accepts (NaN, lone
    surrogates)."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    def finite(number: str) -> float:
        value = float(number)
        return value if math.isfinite(value) else refuse(number)

    content = json.loads(text, parse_constant=refuse, parse_float=finite)
    json.dumps(content, ensure_ascii=False).encode("utf-8")  # half a surrogate pair is a UnicodeEncodeError
    return content


def _rdr(config: RdrConfig, content: Any) -> RdrConfig:
    if not isinstance(content, dict) or "rdr" not in content:
        _log.warning("rdr: 'rdr' not exists in the env_config_path file")
        return config
    config = replace(config, given=True)
    section = content["rdr"]
    readers: tuple[tuple[str, Callable[[RdrConfig, Any], RdrConfig]], ...] = (
        ("enable", _enable), ("mode", _mode), ("path", _path)
    )  # fmt: skip
    for key, read in readers:
        if isinstance(section, dict) and key in section:
            config = read(config, section[key])
        else:
            _log.warning("rdr: Check json failed, '%s' not found in 'rdr'", key)
    return config


def _enable(config: RdrConfig, value: Any) -> RdrConfig:
    if isinstance(value, bool):
        return replace(config, enable=value)
    _log.warning("rdr: 'enable' in rdr should be boolean, got %r", value)
    return config


def _mode(config: RdrConfig, value: Any) -> RdrConfig:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value in (EXCEPTIONAL, NORMAL):
        return replace(config, mode=int(value))
    _log.warning("rdr: 'mode' in rdr should be 1 or 2, got %r", value)
    return config


def _path(config: RdrConfig, value: Any) -> RdrConfig:
    if not isinstance(value, str):
        _log.warning("rdr: 'path' in 'rdr' should be string, got %r", value)
        _log.warning("rdr: RDR path parse failed. The RDR path will be the default value: '%s'", config.path)
        return config
    refused = paths.refusal(value)
    if refused is None:
        return replace(config, path=paths.stored(value))
    _log.log(
        refused.level, "rdr: RDR path parse failed. The RDR path will be the default value: '%s'. Detail: %s",
        config.path, refused.reason,
    )  # fmt: skip
    return config


def _sys(config: RdrConfig, content: Any) -> RdrConfig:
    if not isinstance(content, dict) or "sys" not in content:
        _log.info("rdr: 'sys' isn't existed in the env_config_path file")
        return config
    section = content["sys"]
    if not isinstance(section, dict) or "mem_reuse" not in section:
        _log.warning("rdr: Check json failed, 'mem_reuse' not found in 'sys'")
        return config
    if isinstance(section["mem_reuse"], bool):
        return replace(config, mem_reuse=section["mem_reuse"])
    _log.info("rdr: 'mem_reuse' in sys should be boolean, got %r", section["mem_reuse"])
    return config
