"""Operating: the `prefill` command of this account is signed in to the house that was started here."""

from collections.abc import Callable

from web import people
from web.client import credentials
from web.client.trouble import Trouble
from web.config import Settings
from web.operate.rooms import Rooms
from web.store.engine import Store


def sign_in_owner(rooms: Rooms, say: Callable[[str], None]) -> None:
    """Write a token where the command looks for it, unless the one that lies there still works."""
    try:
        if not _still_works(rooms):
            token = people.owner_token(rooms.home.database_url, Settings().owner_name, "prefilld run")
            credentials.remember(rooms.base_url, token)
    except (Trouble, OSError) as problem:
        say(f"The `prefill` command could not be signed in: {problem}")


def introduce_owner(say: Callable[[str], None]) -> None:
    """For a house without a terminal of its own, as under Compose: how the owner gets in."""
    settings = Settings()
    token = people.owner_token(settings.database, settings.owner_name, "prefilld owner")
    if settings.local:
        say(f"page   {settings.base_url}/enter/{settings.secret('local_key').decode().strip()}")
    say(f"token  {token}")
    say(f"prefill auth login --host {settings.base_url} --with-token   asks for that token")


def _still_works(rooms: Rooms) -> bool:
    try:
        token = credentials.find(rooms.base_url).token
    except Trouble:
        return False
    store = Store(rooms.home.database_url)
    try:
        with store.reading() as session:
            return people.user_of_token(session, token) is not None
    finally:
        store.close()
