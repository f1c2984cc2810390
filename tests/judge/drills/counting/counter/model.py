"""The obvious counter."""


def totals(amounts: list[int]) -> list[int]:
    return [sum(amounts[: index + 1]) for index in range(len(amounts))]
