"""What a user of sweep.py is told."""


class SweepError(Exception):
    """One line for the user, and the exit code that goes with it."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code
