"""The measurements themselves, started by the modules of `bench` with servers and settings of their own."""

import django

django.setup()
