"""Which sandbox holds guests here, and a sentence that says why: for the log, the status and the page."""

import logging
from collections.abc import Callable

from sandbox.box import Place, Sandbox
from sandbox.bubblewrap import BubblewrapSandbox
from sandbox.docker import DockerSandbox
from sandbox.errors import SandboxError
from sandbox.limits import LIMIT_CLASSES
from sandbox.pool import Slots
from sandbox.process import ProcessSandbox

log = logging.getLogger(__name__)

Make = Callable[[Place], Sandbox]
MAKERS: dict[str, Make] = {"docker": DockerSandbox, "bubblewrap": BubblewrapSandbox, "process": ProcessSandbox}


def choose(name: str, place: Place) -> tuple[Sandbox, str]:
    """The named sandbox, proven by opening one guest; "auto" takes the first that works: Docker, then bubblewrap.

    A sandbox that was named and does not work is an error: falling back to a weaker one in silence would be worse.
    """
    if name == "auto":
        return _first_that_works(place)
    if name not in MAKERS:
        raise SandboxError(f"no sandbox is called {name!r}: auto, {', '.join(MAKERS)}")
    return _proven(MAKERS[name], place), f"Guests are held by {name}, as the settings say."


def _first_that_works(place: Place) -> tuple[Sandbox, str]:
    reasons: list[str] = []
    for name, make in MAKERS.items():
        try:
            sandbox = _proven(make, place)
        except SandboxError as error:
            log.info("%s does not work here: %s", name, error)
            reasons.append(f" {name} does not work here ({error}).")
        else:
            return sandbox, f"Guests are held by {name}, the strongest that works here.{''.join(reasons)}"
    raise SandboxError(f"no sandbox works here:{''.join(reasons)}")


def _proven(make: Make, place: Place) -> Sandbox:
    """Sweep first, since a leftover may be what stands in the way; then one guest must open."""
    sandbox = make(place)
    if swept := sandbox.sweep():
        log.warning("swept %d guests of an earlier keeper", swept)
    try:
        _try(sandbox)
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def _try(sandbox: Sandbox) -> None:
    """One guest opens and ends."""
    slots = Slots()
    try:
        sandbox.open(next(iter(LIMIT_CLASSES.values())), slots.take()).kill()
    except OSError as error:
        raise SandboxError(str(error)) from error
    finally:
        slots.close()
