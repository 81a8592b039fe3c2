"""Django's admin with a site of our own (settings.INSTALLED_APPS)."""

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    default_site = "core.staff_site.StaffSite"
