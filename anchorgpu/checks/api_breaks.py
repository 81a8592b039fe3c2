"""What a partner's program that worked with one OpenAPI document would miss in another one.

The rule: an address, a method, a field or a value that we take may come and never goes; what must be sent may become
less and never more; what is answered may grow and never loses a field. A value more in a list of states that we answer
is no break: the documentation says that more may come. Sentences and examples promise nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
_LOWER_BOUNDS = ("minimum", "minLength", "minItems")
_UPPER_BOUNDS = ("maximum", "maxLength", "maxItems")


def breaks(old: Schema, new: Schema) -> list[str]:
    """One line for each break, named by its place."""
    return sorted(set(_Comparison(old, new).run()))


class _Comparison:
    """Two documents, whose references are followed side by side. No schema of ours holds itself."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self._old, self._new = old, new

    def run(self) -> Iterator[str]:
        for path, calls in self._old["paths"].items():
            for method, call in calls.items():
                now = self._new["paths"].get(path, {}).get(method)
                where = f"{method.upper()} {path}"
                if now is None:
                    yield f"{where}: gone"
                else:
                    yield from self._call(where, call, now)

    def _call(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        if {} in old.get("security", [{}]) and {} not in new.get("security", [{}]):
            yield f"{where}: needs a key now"
        if old["operationId"] != new["operationId"]:
            yield f"{where}: the name {old['operationId']} is gone"
        yield from self._parameters(where, old, new)
        yield from self._bodies(where, old, new)
        for status, answer in old["responses"].items():
            if not status.startswith("2"):
                continue
            now = new["responses"].get(status)
            if now is None:
                yield f"{where} {status}: gone"
                continue
            for media_type, content in answer.get("content", {}).items():
                now_content = now.get("content", {}).get(media_type)
                if now_content is None:
                    yield f"{where} {status}: {media_type} is gone"
                else:
                    yield from self._schemas(
                        f"{where} {status}", content["schema"], now_content["schema"], sent=False
                    )

    def _parameters(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        before, now = (
            {(one["in"], one["name"]): one for one in call.get("parameters", ())} for call in (old, new)
        )
        for key, parameter in before.items():
            here = f"{where} {key[1]}"
            if key not in now:
                yield f"{here}: gone"
                continue
            yield from self._schemas(here, parameter["schema"], now[key]["schema"], sent=True)
        for key, parameter in now.items():
            was_required = key in before and before[key].get("required", False)
            if parameter.get("required", False) and not was_required:
                yield f"{where} {key[1]}: must be sent now"

    def _bodies(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        before, now = old.get("requestBody"), new.get("requestBody")
        if now is not None and now.get("required") and not (before and before.get("required")):
            yield f"{where} body: must be sent now"
        if before is None:
            return
        for media_type, content in before["content"].items():
            now_content = (now or {"content": {}})["content"].get(media_type)
            if now_content is None:
                yield f"{where} body: {media_type} is gone"
            else:
                yield from self._schemas(f"{where} body", content["schema"], now_content["schema"], sent=True)

    def _schemas(self, where: str, old: Schema, new: Schema, *, sent: bool) -> Iterator[str]:
        """`sent`: a value goes to us and must still be taken. Else it comes from us and must still be understood."""
        before, now = list(_alternatives(self._old, old)), list(_alternatives(self._new, new))
        givers, takers = (before, now) if sent else (now, before)
        for giver in givers:
            same = [taker for taker in takers if _kind(taker) in (_kind(giver), None)]
            if not same:
                yield f"{where}: {'takes no' if sent else 'may be'} {_kind(giver)} {'any more' if sent else 'now'}"
                continue
            found = [
                list(self._alike(where, *((giver, taker) if sent else (taker, giver)), sent=sent))
                for taker in same
            ]
            yield from min(found, key=len)

    def _alike(self, where: str, old: Schema, new: Schema, *, sent: bool) -> Iterator[str]:
        """Two schemas of one kind."""
        if sent:
            yield from _narrowed(where, old, new)
        before, now = old.get("properties", {}), new.get("properties", {})
        for name in before:
            if name not in now:
                yield f"{where}.{name}: gone"
                continue
            yield from self._schemas(f"{where}.{name}", before[name], now[name], sent=sent)
        must, must_now = set(old.get("required", ())), set(new.get("required", ()))
        if sent:
            yield from (f"{where}.{name}: must be sent now" for name in sorted(must_now - must))
        else:
            yield from (
                f"{where}.{name}: may be left out now" for name in sorted((must - must_now) & set(now))
            )
        if "items" in old and "items" in new:
            yield from self._schemas(f"{where}[]", old["items"], new["items"], sent=sent)


def _narrowed(where: str, old: Schema, new: Schema) -> Iterator[str]:
    """A value that we took and take no more."""
    if "enum" in new:
        lost = [value for value in old.get("enum", ["any value"]) if value not in new["enum"]]
        yield from (f"{where}: {value!r} is taken no more" for value in lost)
    is_tighter: tuple[tuple[tuple[str, ...], Callable[[Any, Any], bool]], ...] = (
        (_LOWER_BOUNDS, lambda before, now: now > before),
        (_UPPER_BOUNDS, lambda before, now: now < before),
        (("pattern", "format"), lambda before, now: now != before),
    )
    for names, tighter in is_tighter:
        for name in names:
            if name in new and (name not in old or tighter(old[name], new[name])):
                yield f"{where}: {name} was {old.get(name, 'open')}, is {new[name]}"
    if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
        yield f"{where}: other names are taken no more"


def _kind(schema: Schema) -> str | None:
    """None: a schema that says nothing takes everything."""
    if "type" not in schema and "enum" in schema:
        return "null" if schema["enum"] == [None] else "string"
    return schema.get("type")


def _alternatives(document: Schema, schema: Schema) -> Iterator[Schema]:
    """References followed, unions and lists of types taken apart."""
    if "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        yield from _alternatives(document, found)
        return
    for union in ("oneOf", "anyOf", "allOf"):
        if union in schema:
            for one in schema[union]:
                yield from _alternatives(document, one)
            return
    types = schema.get("type")
    if isinstance(types, list):
        for kind in types:
            yield {**schema, "type": kind}
    else:
        yield schema
