"""Pages read as a browser reads them."""

from itertools import pairwise
from xml.etree.ElementTree import Element

import html5lib


class Page:
    """A page that keeps the rules that hold for all of them; raises ``AssertionError`` for one that does not."""

    def __init__(self, text: str) -> None:
        # Strict: an error of syntax, such as a tag inside of one that cannot hold it, is raised.
        parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
        self.root: Element = parser.parse(text)
        self._check()

    def all(self, tag: str) -> list[Element]:
        """The elements of that name."""
        return list(self.root.iter(tag))

    def text(self, element: Element | None = None) -> str:
        """What can be read, elements and whitespace apart by single spaces."""
        return " ".join(" ".join((self.root if element is None else element).itertext()).split())

    def by_id(self, name: str) -> Element:
        """The element with that id."""
        return next(one for one in self.root.iter() if one.get("id") == name)

    @property
    def links(self) -> list[str]:
        """Targets of links, in their order."""
        return [one.get("href", "") for one in self.all("a")]

    @property
    def ids(self) -> list[str]:
        """All ids."""
        return [name for one in self.root.iter() if (name := one.get("id")) is not None]

    def _check(self) -> None:
        assert self.root.get("lang") == "en"
        assert len(self.all("main")) == len(self.all("h1")) == len(self.all("title")) == 1
        assert len(self.ids) == len(set(self.ids))
        for fragment in (link[1:] for link in self.links if link.startswith("#")):
            assert fragment in self.ids, fragment
        for table in self.all("table"):
            assert table[0].tag == "caption"
            assert all(one.get("scope") for one in table.iter("th"))
        levels = [int(one.tag[1]) for one in self.root.iter() if one.tag in {"h1", "h2", "h3", "h4"}]
        assert all(later - earlier <= 1 for earlier, later in pairwise(levels)), levels
        for field in (*self.all("input"), *self.all("select")):
            assert field.get("type") == "hidden" or any(field in label.iter() for label in self.all("label"))
        for one in self.root.iter():
            assert one.tag not in {"script", "iframe", "object", "embed", "img", "style", "base"}, one.tag
            handlers = [name for name in one.attrib if name.startswith("on") or name == "style"]
            assert not handlers, handlers
            for address in (one.get("href"), one.get("action"), one.get("src")):
                assert address is None or address.startswith(("/", "#", "https://traces.example/")), address
