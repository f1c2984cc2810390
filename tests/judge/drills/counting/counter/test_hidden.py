from hypothesis import given, settings
from hypothesis import strategies as st

AMOUNTS = st.lists(st.integers(0, 40), max_size=8)


@settings(max_examples=40)
@given(amounts=AMOUNTS)
def test_sum_of_any_numbers(solution, same, drill, amounts):
    """Each answer is the sum of everything added so far."""
    counter = solution.Counter()
    for amount, total in zip(amounts, drill.model.totals(amounts), strict=True):
        same(counter.add(amount), total)


@settings(max_examples=20)
@given(amount=st.integers(-40, -1))
def test_negative_is_refused(solution, same, amount):
    """A negative amount raises ValueError."""
    counter = solution.Counter()
    same.raises(ValueError, counter.add, amount)


def test_refusal_changes_nothing(solution, same):
    """After a refusal the total is as before."""
    counter = solution.Counter()
    same(counter.add(4), 4)
    same.raises(ValueError, counter.add, -1)
    same(counter.add(0), 4)


@settings(max_examples=30)
@given(amounts=AMOUNTS)
def test_history_in_order(solution, same, amounts):
    """History answers what was added, in order."""
    counter = solution.Counter()
    for amount in amounts:
        counter.add(amount)
    same(counter.history(), amounts)
