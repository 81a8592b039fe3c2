"""What a person is told when a service cannot run."""


class ServiceError(Exception):
    """One sentence that says what is wrong and what to do; shown to the person as it is."""
