"""What a browser would load, send to or run for a page, as its HTML says."""

from html.parser import HTMLParser

# A link that is followed by a person is none of it.
_LOADS = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "audio": ("src",),
    "video": ("src", "poster"),
    "track": ("src",),
    "input": ("src",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
    "form": ("action",),
    "button": ("formaction",),
    "base": ("href",),
}
_LINKS = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "manifest",
    "prefetch",
    "preconnect",
    "dns-prefetch",
}
_DATA_BLOCKS = {"application/json", "application/ld+json", "speculationrules"}


class Loads(HTMLParser):
    """`foreign`: addresses of others. `inline`: what a strict policy would not run or apply."""

    def __init__(self, html: str, *, site: str) -> None:
        super().__init__()
        self._site = site
        self.foreign: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        names = _LOADS.get(tag, ())
        if tag == "link" and _LINKS & set(values.get("rel", "").split()):
            names = ("href",)
        for name in names:
            address = values.get(name, "").strip()
            if address.startswith("//") or (":" in address.partition("/")[0] and not self._is_ours(address)):
                self.foreign.append(f"<{tag} {name}={address}>")
        self.inline += [f"<{tag} {name}>" for name in values if name == "style" or name.startswith("on")]
        if tag == "style" or (
            tag == "script" and not values.get("src") and values.get("type") not in _DATA_BLOCKS
        ):
            self.inline.append(f"<{tag}>")

    def _is_ours(self, address: str) -> bool:
        return address.startswith(("data:image/", f"{self._site}/"))
