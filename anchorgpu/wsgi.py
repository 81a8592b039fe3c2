"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "anchorgpu.settings")

application = get_wsgi_application()
# All views before the server forks, instead of once in each worker at its first request: they share the memory.
_ = get_resolver().url_patterns
