"""The wall: how a stranger's code is held, called and ended."""
