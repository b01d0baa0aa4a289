"""Templates to answers. Everything that is put into a template is escaped and made visible; nothing is trusted.

Jinja2 (with MarkupSafe, nothing else) is used for its escaping by default: a page of f-strings is one forgotten call
away from running what an agent said.
"""

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

from aem_monitor.web.pages.text import ago, cut, moment, percent, took, value_text, visible, words

STYLE: Final = files(__package__).joinpath("style.css").read_bytes()
STYLE_PATH: Final = f"/static/style-{hashlib.sha256(STYLE).hexdigest()[:12]}.css"
"""Named by its content, so that browsers may keep it for ever."""

HEADERS: Final = {
    # No script, no image, nothing from elsewhere; and no page of another site may frame these.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # Addresses name agents and runs; the tracing backend need not learn them.
    "Referrer-Policy": "no-referrer",
    # What customers and agents said stays out of caches, and ages would be stale in them.
    "Cache-Control": "no-store",
}


def _finalize(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _url(path: str, *segments: str, **query: str | None) -> str:
    """A path below ``path`` with its query; parameters that are None are left out."""
    below = "".join("/" + quote(one, safe="", errors="replace") for one in segments)
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}{below}" + (f"?{urlencode(given, errors='replace')}" if given else "")


_ENVIRONMENT: Final = Environment(
    loader=PackageLoader(__package__, "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_finalize,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(ago=ago, cut=cut, moment=moment, percent=percent, took=took, value=value_text, words=words)
_ENVIRONMENT.globals.update(style=STYLE_PATH, url=_url)


def page(
    template: str, values: Mapping[str, object], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A page from a template of this package, and the values that it names."""
    text = _ENVIRONMENT.get_template(template).render(values)
    return Response(
        text.encode("utf-8", "replace"),
        status_code=status,
        headers={**HEADERS, **(headers or {})},
        media_type="text/html; charset=utf-8",
    )
