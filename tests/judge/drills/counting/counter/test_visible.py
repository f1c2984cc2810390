def test_adds_up(solution, same):
    """Two and three are five."""
    counter = solution.Counter()
    same(counter.add(2), 2)
    same(counter.add(3), 5)


def test_starts_at_zero(solution, same):
    """Nothing was added yet."""
    same(solution.Counter().add(0), 0)
