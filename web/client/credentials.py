"""Which judge to talk to, and the token for it: the environment first, then the file that signing in wrote."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from web.client.trouble import NOT_SIGNED_IN, USAGE, Trouble


@dataclass(frozen=True, slots=True)
class Credentials:
    """A judge's address and a bearer token for it."""

    host: str
    token: str

    def __repr__(self) -> str:
        return f"Credentials(host={self.host!r}, token='pfl_…')"  # a token never reaches a log or a crash text


def hosts_file() -> Path:
    return Path(platformdirs.user_config_dir("prefill")) / "hosts.json"


def find(host: str | None = None) -> Credentials:
    """PREFILL_HOST and PREFILL_TOKEN, else hosts.json. Raises `Trouble` that says how to sign in."""
    stored = _stored()
    host = host or os.environ.get("PREFILL_HOST") or stored.get("default")
    if not host:
        raise Trouble(
            "No judge known yet. Start one with `make run` (it signs you in), "
            "or give PREFILL_HOST and PREFILL_TOKEN, or use `prefill auth login --host URL --with-token`.",
            NOT_SIGNED_IN,
        )
    host = host.rstrip("/")
    token = os.environ.get("PREFILL_TOKEN") or stored.get("hosts", {}).get(host, {}).get("token")
    if not token:
        raise Trouble(f"Not signed in to {host}. Run: prefill auth login --host {host} --with-token", NOT_SIGNED_IN)
    return Credentials(host, token)


def find_for(host: str) -> Credentials:
    """The judge that a folder came from. One's own machine is one judge, whatever port it listens on today."""
    default = _stored().get("default")
    if default and default != host and _is_here(default) and _is_here(host) and "PREFILL_HOST" not in os.environ:
        return find(default)
    return find(os.environ.get("PREFILL_HOST") or host)


def _is_here(host: str) -> bool:
    return urlsplit(host).hostname in ("127.0.0.1", "localhost", "::1")


def remember(host: str, token: str) -> Path:
    """Write the token with mode 0600, whole or not at all; the judge becomes the default one."""
    stored = _stored()
    stored.setdefault("hosts", {})[host] = {"token": token}
    stored["default"] = host
    path = hosts_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(stored, file, indent=2)
    fresh.replace(path)
    return path


def _stored() -> dict[str, Any]:
    path = hosts_file()
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Trouble(f"Cannot read {path}: {error}. Mend or delete it, then sign in again.", USAGE) from error
    if not isinstance(stored, dict):
        raise Trouble(f"{path} does not hold a JSON object. Delete it, then sign in again.", USAGE)
    return stored
