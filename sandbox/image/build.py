"""The image of Docker's guests: built here from a base and the guest's code, named after the hash of both.

A tag that exists is the very same content, so nothing is ever rebuilt or stale. Builds need no network.
"""

import hashlib
import io
import logging
import tarfile
from pathlib import Path

import docker
from docker.errors import APIError, NotFound

from sandbox.box import Place
from sandbox.errors import SandboxError

log = logging.getLogger(__name__)

HERE = Path(__file__).parent
GUEST = HERE.parent / "guest"


def guest_image(engine: docker.DockerClient, place: Place) -> str:
    """The guest image for exactly this code on this base, built unless it is there. Its id."""
    base = _base(engine, place.base_image)
    context = _context()
    tag = f"{place.guest_image.partition(':')[0]}:{hashlib.sha256(base.encode() + context).hexdigest()[:12]}"
    try:
        image = engine.images.get(tag)
    except NotFound:
        log.info("building %s from %s", tag, place.base_image)
        image, _ = engine.images.build(
            fileobj=io.BytesIO(context),
            custom_context=True,
            buildargs={"BASE_IMAGE": place.base_image},
            tag=tag,
            rm=True,
            forcerm=True,
            network_mode="none",
        )
    image.tag(place.guest_image)
    return str(image.id)


def _base(engine: docker.DockerClient, name: str) -> str:
    try:
        return str(engine.images.get(name).id)
    except NotFound:
        log.info("fetching %s", name)
        return _fetched(engine, name)


def _fetched(engine: docker.DockerClient, name: str) -> str:
    repository, _, tag = name.partition(":")
    try:
        return str(engine.images.pull(repository, tag or "latest").id)
    except APIError as error:
        log.info("%s", error)
        raise SandboxError(f"the base image {name} is not on this machine and can't be fetched") from error


def _context() -> bytes:
    """The build context: the Dockerfile and the guest's code, the same bytes for the same content."""
    files = {"Dockerfile": HERE / "Dockerfile"}
    files |= {f"guest/{path.name}": path for path in sorted(GUEST.glob("*.py"))}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, path in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = path.stat().st_size, 0o644
            tar.addfile(entry, io.BytesIO(path.read_bytes()))
    return buffer.getvalue()
