"""Operating: `prefilld run`, which is `make run`: the whole house on one machine under one supervisor."""

import shutil
import socket
from pathlib import Path

import click

from web.operate import redis, secrets
from web.operate.account import sign_in_owner
from web.operate.complaint import Complaint
from web.operate.database import upgrade_database
from web.operate.home import Home, Lock, make_run_folder
from web.operate.readiness import keeper_status
from web.operate.rooms import Rooms
from web.operate.supervisor import Supervisor


def run_house(state: Path, address: tuple[str, int], drills: str) -> None:
    """From nothing to "ready", then watch, then leave nothing behind."""
    home = Home(state)
    home.furnish()
    lock = Lock(home)
    check_port_is_free(*address)
    binary = redis.find_server()
    secrets.distribute(home.secrets)
    run = make_run_folder()
    try:
        server = redis.Redis(binary, home.redis, run, secrets.read(home.secrets, "redis_password").decode())
        rooms = Rooms(home, run, server, *address, drills)
        lock.note(rooms.base_url, run)
        _supervise(rooms)
    finally:
        shutil.rmtree(run, ignore_errors=True)
        lock.release()


def _supervise(rooms: Rooms) -> None:
    supervisor = Supervisor(rooms.home.logs, _say)
    supervisor.listen_to_signals()
    _say(f"Prefill starts. State: {rooms.home.state}   logs: {rooms.home.logs}")
    upgrade_database(rooms.home.database_url)
    try:
        for wave in rooms.waves():
            supervisor.start(wave)
            refuse_strangers(rooms, str(keeper_status(rooms.run).get("sandbox")))
        if not supervisor.stopping:
            _welcome(rooms)
        supervisor.watch()
        _say("\nStopping.")
    finally:
        supervisor.end()
    _say("Stopped. Nothing is left running; your submissions are kept.")


def _welcome(rooms: Rooms) -> None:
    if keeper_status(rooms.run).get("sandbox") == "process":
        click.secho(_NO_WALL, fg="red", bold=True, err=True)
    sign_in_owner(rooms, _say)
    key = secrets.read(rooms.home.secrets, "local_key").decode()
    _say(f"\nReady. Open  {rooms.base_url}/enter/{key}\n(Ctrl-C stops everything.)")


def refuse_strangers(rooms: Rooms, sandbox: str) -> None:
    """Without a wall nobody but the person at this machine may submit."""
    if sandbox == "process" and rooms.host not in ("127.0.0.1", "::1", "localhost"):
        raise Complaint(
            f"There is no wall around submissions here, so Prefill will not listen on {rooms.host}, where others could "
            "submit. Leave --host away, or install bubblewrap or Docker; `.venv/bin/prefilld doctor` says what is here."
        )


def check_port_is_free(host: str, port: int) -> None:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as taken:
        raise Complaint(
            f"Prefill cannot listen on {host}, port {port} ({taken.strerror}). "
            f"If another program has that port, stop it, or choose another one: make run PORT={port + 1}"
        ) from taken


def _say(line: str) -> None:
    click.echo(line)


_NO_WALL = """
  There is NO WALL around submissions: neither Docker nor bubblewrap works here.
  A submission can read and change whatever this account can: grade only code that you trust.
  `.venv/bin/prefilld doctor` says what to do about it, and var/log/keeper.log what was tried."""
