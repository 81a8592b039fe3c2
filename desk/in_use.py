"""Which rows of the catalogue open orders stand on: an import must not change what they mean."""

from catalog.figures import ACCELERATOR, OPTION
from catalog.import_plan import InUse
from catalog.import_rows import IMAGE
from orders.lifecycle import OVER
from orders.models import Order


def rows_in_use() -> InUse:
    """Accelerators, environments and options of orders that are not over. 1 query."""
    found = Order.objects.exclude(status__in=OVER).values_list(
        "quote__lot__accelerator__slug", "quote__image__code", "quote__options"
    )
    accelerators: set[str] = set()
    images: set[str] = set()
    options: set[str] = set()
    for slug, image, chosen in found:
        accelerators.add(slug)
        images.add(image)
        options.update(choice["code"] for choice in chosen)
    return InUse({ACCELERATOR: frozenset(accelerators), IMAGE: frozenset(images), OPTION: frozenset(options)})
