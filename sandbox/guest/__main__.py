"""Where a guest starts: `python3 -I -B <this folder>/__main__.py <socket path>`."""

import importlib
import importlib.util
import os
import sys


def adopt_folder() -> None:
    """Make the folder of this file importable as `guest`, whatever its name and without touching `sys.path`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        "guest", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    sys.modules["guest"] = importlib.util.module_from_spec(spec)


if __name__ == "__main__":
    adopt_folder()
    importlib.import_module("guest.agent").main(sys.argv.pop())
