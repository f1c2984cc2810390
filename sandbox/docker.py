"""The wall of the hosted house: one container a guest, used once, with everything off that can be off.

Theory of operation. The container's only ways out are its door (a folder of its own, mounted read-only, holding one
socket that only its user may open) and the engine, which we ask for three things: create, start, kill. Nothing is
attached (a stream that nobody drains makes `kill` hang), nothing is logged (the default log took 788 MB in 3 s from one
guest), and there is no init in front of the agent, which must be process 1. `stop` is never used: a process 1 that
ignores the polite signal holds it for ten seconds.

What a guest used is read from its control group while it lives, below a parent of our own; the engine's own words
(`OOMKilled`, exit codes) were seen wrong in both directions and are not read. A container that ends removes itself, so
a keeper that was killed leaves none behind once its agents have seen their lines close; `sweep` ends the rest by label.

The module is called `docker` like the library; within the package there is no confusion, since imports are absolute.
"""

import contextlib
import json
import logging
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound
from docker.models.containers import Container
from docker.types import LogConfig, Mount, Ulimit

from sandbox import cgroup, syscalls
from sandbox.box import Facts, Place, Promise, Slot, Usage
from sandbox.door import Door
from sandbox.errors import SandboxError
from sandbox.guest_box import GuestBox, opened
from sandbox.image.build import guest_image
from sandbox.limits import Limits

log = logging.getLogger(__name__)

MIB = 1024 * 1024
ENGINE_S = 30
REMOVED_WITHIN_S = 20.0
SPARE_PROCESSES = 2
INODES_A_MIB = 256
PROMISES = frozenset(Promise)
COUNTED = frozenset({Promise.MEMORY, Promise.CPU})
FAILURES = (DockerException, requests.RequestException)


@dataclass(slots=True)
class Contained:
    """The grip on one container."""

    container: Container
    group: cgroup.Group | None

    def usage(self) -> Usage:
        if self.group is None:
            raise FileNotFoundError("this host shows no control group")
        return self.group.usage()

    def running(self) -> bool:
        try:
            self.container.reload()
        except NotFound:
            return False
        return str(self.container.status) in ("created", "running")

    def complaint(self) -> str:
        """There is no log by design; the engine knows the status."""
        return f"container {self.container.name} is {self.container.status}"

    def kill(self) -> None:
        """Remove by force, which kills; then wait until the engine has forgotten it."""
        deadline = time.monotonic() + REMOVED_WITHIN_S
        while _still_there(self.container):
            if time.monotonic() > deadline:
                raise SandboxError(f"the engine does not remove {self.container.name}")
            time.sleep(0.01)


def _still_there(container: Container) -> bool:
    """One try to remove it. A conflict means that its removal is under way: it removes itself when it ends."""
    try:
        container.remove(force=True, v=True)
    except NotFound:
        return False
    except APIError as error:
        if error.status_code != 409:
            raise SandboxError(f"the engine does not remove {container.name}: {error}") from error
    except requests.RequestException as error:
        raise SandboxError(f"the engine does not answer: {error}") from error
    return True


class DockerSandbox:
    """Guests in containers."""

    name = "docker"

    def __init__(self, place: Place) -> None:
        self._place = place
        try:
            self._engine = docker.from_env(timeout=ENGINE_S)
        except FAILURES as error:
            raise SandboxError(f"Docker: {error}") from error
        try:
            self._info = self._engine.info()
            self._image = guest_image(self._engine, place)
        except (*FAILURES, SandboxError) as error:
            self._engine.close()
            raise SandboxError(f"Docker: {error}") from error
        self._profile = json.dumps(syscalls.profile())

    @property
    def promises(self) -> frozenset[Promise]:
        return PROMISES if self._counts else PROMISES - COUNTED

    @cached_property
    def _counts(self) -> bool:
        """Whether the engine's control groups can be seen from here (under Compose the host's tree is mounted)."""
        return bool(_group_bases(self._info))

    @cached_property
    def facts(self) -> Facts:
        words = ["python3", "-I", "-c", "import platform; print(platform.python_version())"]
        said = self._engine.containers.run(
            self._image,
            words[1:],
            entrypoint=words[0],
            remove=True,
            network_mode="none",
            cap_drop=["ALL"],
            labels=self._labels,
        )
        return Facts(self.name, said.decode().strip(), self._image, tuple(sorted(self.promises)))

    @property
    def _labels(self) -> dict[str, str]:
        return {"prefill.guest": self._place.label}

    def open(self, limits: Limits, slot: Slot) -> GuestBox:
        door = Door(self._place.run, slot.uid)
        try:
            hold = self._start(door, limits, slot)
        except BaseException:
            door.close()
            raise
        return opened(door, hold, limits)

    def _start(self, door: Door, limits: Limits, slot: Slot) -> Contained:
        words = {**_always(), **_terms(limits), **self._identity(door, slot)}
        try:
            container = self._engine.containers.create(self._image, **words)
        except FAILURES as error:
            raise SandboxError(f"the engine makes no container: {error}") from error
        hold = Contained(container, _group(self._info, self._place.label, str(container.id)))
        try:
            container.start()
        except FAILURES as error:
            hold.kill()
            raise SandboxError(f"the engine starts no container: {error}") from error
        return hold

    def _identity(self, door: Door, slot: Slot) -> dict[str, Any]:
        return {
            "name": f"prefill-{door.folder.name}",
            "user": f"{slot.uid}:{slot.uid}",
            "mounts": [Mount("/run/door", str(door.folder), type="bind", read_only=True)],
            "cpuset_cpus": None if slot.cpu is None else str(slot.cpu),
            "cgroup_parent": _parent(self._info, self._place.label),
            "labels": self._labels,
            "security_opt": ["no-new-privileges:true", f"seccomp={self._profile}"],
        }

    def sweep(self) -> int:
        """End every container that bears our label, running or not."""
        try:
            found = self._engine.containers.list(all=True, filters={"label": f"prefill.guest={self._place.label}"})
        except FAILURES as error:
            raise SandboxError(f"Docker: {error}") from error
        for container in found:
            Contained(container, None).kill()
        return len(found)

    def close(self) -> None:
        """The parent group is made by the engine for the first container and removed by nobody but us."""
        self._engine.close()
        parent = _parent(self._info, self._place.label).lstrip("/")
        root = Path("/sys/fs/cgroup")
        for folder in (root / parent, *root.glob(f"*/{parent}")):
            with contextlib.suppress(OSError):  # not there, not ours to write, or not yet empty
                folder.rmdir()


def _always() -> dict[str, Any]:
    """What holds for every guest."""
    return {
        "detach": True,
        "auto_remove": True,
        "network_mode": "none",
        "ipc_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "log_config": LogConfig(type=LogConfig.types.NONE),
        "init": False,
        "stdin_open": False,
        "tty": False,
        "hostname": "guest",
        "oom_score_adj": 0,
    }


def _terms(limits: Limits) -> dict[str, Any]:
    """Limits as the engine spells them; swap is counted into memory, so there is none beyond it."""
    memory = f"{limits.memory_mib}m"
    scratch = f"size={limits.scratch_mib}m,nr_inodes={limits.scratch_mib * INODES_A_MIB}"
    return {
        "mem_limit": memory,
        "memswap_limit": memory,
        "pids_limit": limits.processes + SPARE_PROCESSES,
        # `--ipc none` takes /dev/shm away but leaves /dev/mqueue, where a queue would outlive its child.
        "tmpfs": {
            "/tmp": f"rw,noexec,nosuid,nodev,{scratch},mode=1777",
            "/dev/mqueue": "ro,noexec,nosuid,nodev,size=4k,mode=555",
        },
        "ulimits": [
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="nofile", soft=limits.open_files, hard=limits.open_files),
            Ulimit(name="fsize", soft=limits.file_mib * MIB, hard=limits.file_mib * MIB),
            Ulimit(name="memlock", soft=0, hard=0),
        ],
    }


def _parent(info: dict[str, Any], label: str) -> str:
    """This keeper's own parent group, in the spelling of the engine's driver (a dash would nest slices)."""
    return f"prefill{label}.slice" if info.get("CgroupDriver") == "systemd" else f"/prefill-{label}"


def _leaf(info: dict[str, Any], container: str) -> str:
    return f"docker-{container}.scope" if info.get("CgroupDriver") == "systemd" else container


def _group_bases(info: dict[str, Any]) -> dict[str, Path] | None:
    """Where containers' groups lie: one folder a controller (version 1), or one for all (version 2)."""
    root = Path("/sys/fs/cgroup")
    if str(info.get("CgroupVersion", "1")) == "2":
        return dict.fromkeys(cgroup.WANTED, root) if (root / "cgroup.controllers").exists() else None
    found = {name: cgroup.mount_of(name) for name in cgroup.WANTED}
    bases = {name: mount for name, mount in found.items() if mount is not None}
    return bases if len(bases) == len(found) else None


def _group(info: dict[str, Any], label: str, container: str) -> cgroup.Group | None:
    bases = _group_bases(info)
    if bases is None:
        return None
    inside = Path(_parent(info, label).lstrip("/"), _leaf(info, container))
    folders = {name: base / inside for name, base in bases.items()}
    return cgroup.Group(folders, unified=str(info.get("CgroupVersion", "1")) == "2")
