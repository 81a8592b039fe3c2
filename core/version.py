"""The version of the program, as the API and pages tell it."""

VERSION = "0.1.0"
