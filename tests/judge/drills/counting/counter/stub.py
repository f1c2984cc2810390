"""A counter."""


class Counter:
    def add(self, amount: int) -> int:
        """Add and answer the total; ValueError for a negative amount."""
        raise NotImplementedError

    def history(self) -> list[int]:
        raise NotImplementedError
