"""How the tests' process comes by guests: it asks the watchdog, gets a connected descriptor, and loads the source."""

import dataclasses
import socket
from typing import Any

from judge.drill import Drill
from judge.line import ChildEnd
from judge.siblings import Siblings
from sandbox import errors
from sandbox.lease import Fate
from sandbox.link import Link
from sandbox.proxy import ModuleProxy

KNOWN_FAULTS: dict[str, type[BaseException]] = {
    kind.__name__: kind
    for kind in (
        errors.GuestCrashed,
        errors.GuestTimeout,
        errors.GuestOutOfMemory,
        errors.GuestFlooded,
        errors.KeeperGone,
    )
}


class Guests:
    """One fresh child after another; only the newest is alive. `fate` is the last that was asked for."""

    def __init__(self, line: ChildEnd, drill: Drill, source: str, siblings: Siblings) -> None:
        self._line = line
        self._drill = drill
        self._source = source
        self._records = _records(siblings) if drill.contract else {}
        self.link: Link | None = None
        self.fate: Fate | None = None

    def fresh(self) -> ModuleProxy:
        """The submission, loaded into a new child. Raises what a guest or a keeper can do wrong."""
        self.close()
        self.link = link = Link(self._connection(), self._drill.limits, on_fault=self.ask_fate)
        link.records = self._records
        link.load(self._source, self._drill.entry, self._drill.contract)
        return ModuleProxy(link, self._drill.entry)

    def begin_example(self) -> None:
        """No objects, an empty record, the same process."""
        if self.link is not None:
            self.link.forget()
            self.link.transcript.clear()

    def ask_fate(self) -> Fate:
        answer, _ = self._line.ask(ask="fate")
        if not answer["ok"]:
            raise errors.KeeperGone(answer["reason"])
        self.fate = Fate.from_json(answer["fate"])
        return self.fate

    @property
    def are_gone(self) -> bool:
        """Whether the whole guest is known to be dead, so that no further child can come."""
        return self.fate is not None and not self.fate.box_alive

    def close(self) -> None:
        if self.link is not None:
            self.link.close()

    def _connection(self) -> socket.socket:
        answer, sock = self._line.ask(ask="child")
        if sock is not None:
            return sock
        self.ask_fate()
        raise KNOWN_FAULTS.get(answer["fault"], errors.KeeperGone)(answer["reason"])


def _records(siblings: Siblings) -> dict[str, type[Any]]:
    """The contract's dataclasses: the very classes that the drill's tests see."""
    contract = siblings.contract
    kinds = (kind for kind in vars(contract).values() if isinstance(kind, type) and dataclasses.is_dataclass(kind))
    return {kind.__name__: kind for kind in kinds if kind.__module__ == contract.__name__}
