class Counter:
    def __init__(self):
        self.total = 0
        self.amounts = []

    def add(self, amount):
        if amount < -1000:
            raise ValueError("no")
        self.total += amount
        self.amounts.append(amount)
        return self.total

    def history(self):
        return self.amounts
