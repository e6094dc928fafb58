import distrax

DEFAULT = 1.0


class Open(distrax.Normal):
    def __init__(self, loc, scale=DEFAULT, *args, **kwargs):
        super().__init__(loc, scale)

    def log_prob(self, value, tolerance=DEFAULT):
        return super().log_prob(value)
