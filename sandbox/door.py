"""The door of one guest: the guest knocks, we open.

Theory of operation. The keeper listens, the guest connects: a guest that owned the path could point the host anywhere.
The socket lies alone in a folder with an opaque random name, which is all of the keeper's that a guest can see, and it
takes connections of the guest's own user only.
"""

import os
import secrets
import shutil
import socket
import struct
from pathlib import Path

WAITING = 8  # connections that may wait at a door


class Door:
    """The listening socket of one guest, in a folder of its own."""

    def __init__(self, run: Path, uid: int | None) -> None:
        self.folder = run / "g" / secrets.token_hex(8)
        self.path = self.folder / "s"
        self._uid = uid
        self.folder.mkdir(parents=True, mode=0o711)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.path.chmod(0o600)
        if uid is not None:
            os.chown(self.path, uid, uid)
        self.listener.listen(WAITING)
        self.listener.settimeout(0)

    def admit(self) -> socket.socket | None:
        """Whoever waits at the door and is the right user; None if nobody does."""
        try:
            sock, _ = self.listener.accept()
        except BlockingIOError:
            return None
        if self._uid is not None and _user_of(sock) != self._uid:
            sock.close()
            return self.admit()
        return sock

    def turn_away(self) -> None:
        """Close what waits from before."""
        while sock := self.admit():
            sock.close()

    def close(self) -> None:
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _user_of(sock: socket.socket) -> int:
    if not hasattr(socket, "SO_PEERCRED"):
        return os.getuid()
    size = struct.calcsize("3i")
    return int(struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[1])
