"""Public keys as a buyer gives them: pasted, as a file, or both."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.errors import Refusal
from fleet.keys import MAX_TEXT, PublicKey, parse_keys


class KeyFields(forms.Form):
    """What a key is, fleet.keys says. `keys_read`: what was understood, once the form is shown again."""

    ssh_keys = forms.CharField(
        label=_("SSH public key"),
        required=False,
        help_text=_("One line that starts with its type, such as ssh-ed25519. Never the private key."),
        widget=forms.Textarea(
            attrs={"class": "mono", "rows": 3, "spellcheck": "false", "autocomplete": "off"}
        ),
    )
    ssh_key_file = forms.FileField(label=_("Or a file with the public key"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self.keys_read: tuple[PublicKey, ...] = ()

    def key_text(self) -> str:
        """Typed keys and those of the file, one text."""
        upload = self.cleaned_data.get("ssh_key_file")
        # A field that was refused is no longer among the cleaned ones.
        typed = str(self.cleaned_data.get("ssh_keys", self.data.get("ssh_keys", "")))
        if upload is None:
            return typed
        upload.seek(0)
        # One byte more than is allowed, so that the service refuses what is too long.
        from_file = upload.read(MAX_TEXT + 1).decode("utf-8", errors="replace").replace("\x00", "\ufffd")
        return f"{typed}\n{from_file}"

    def keep_keys(self) -> None:
        """Before a refused form is shown again: the keys that could be read stand in it, those of a file too, which a
        browser does not send twice. A private key is never sent back."""
        text = self.key_text()
        try:
            self.keys_read = tuple(parse_keys(text))
        except Refusal:
            if "PRIVATE KEY" not in text:
                return
        data = QueryDict(mutable=True)
        data.update(self.data)
        data["ssh_keys"] = "\n".join(key.line for key in self.keys_read)
        self.data = data
