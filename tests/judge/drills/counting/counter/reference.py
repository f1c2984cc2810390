"""A counter."""


class Counter:
    def __init__(self) -> None:
        self._amounts: list[int] = []

    def add(self, amount: int) -> int:
        if amount < 0:
            raise ValueError("negative")
        self._amounts.append(amount)
        return sum(self._amounts)

    def history(self) -> list[int]:
        return list(self._amounts)
