"""What can end a benchmark, each with the exit code of script/bench."""


class BenchError(Exception):
    """The work failed: something did not start, or ended by itself."""

    exit_code = 1


class Missing(BenchError):
    """A program or a limit of this machine is not as it must be."""

    exit_code = 3


class Void(BenchError):
    """A run whose figures mean nothing: an answer was not 200, or a row is missing."""

    exit_code = 4
