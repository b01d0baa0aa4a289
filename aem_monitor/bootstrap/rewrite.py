"""An author's file with what changed in it: everything else stays as it stands, to the letter.

A file that a person keeps under version control is reviewed by its differences: comments, blank lines, quotes, flow
style and the order of keys are theirs. What is equal is copied line by line; what differs is written anew as block
YAML, at the place and with the comments that were there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final

import yaml

from aem_monitor.errors import DocumentError
from aem_monitor.golden.reference import JSONPath
from aem_monitor.golden.write import Comments, write_yaml
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.yamlfile import parse_document

Moved = Mapping[JSONPath, Mapping[int, int]]
"""For lists, by path: which new item is which old one. Lists that are not named are compared by their items."""

_ANY: Final = (yaml.MappingNode, yaml.SequenceNode)


def rewritten(text: str, old: JSON, new: JSON, comments: Comments, moved: Moved) -> str | None:
    """The text of a YAML file whose value is ``old``, changed to have the value ``new``.

    ``comments`` are added where they do not stand in the file yet. The order of keys in ``new`` counts only for keys
    that the file does not have. None where the file's layout allows no change in parts: it is in flow style as a whole,
    or uses forms (``? key``, ``...``) which what is put in would break.
    """
    file = _File.of(text, comments, moved)
    root = yaml.compose(text.lstrip("\ufeff"), Loader=yaml.SafeLoader)
    if not _block(root) or not isinstance(old, Mapping) or not isinstance(new, Mapping) or not new:
        return None
    stop = max(file.covered) + 1
    lines = [*file.said((), 0), *file.mapping(root, 0, stop, old, new, ()), *file.lines[stop:]]
    ends = "\r\n" if "\r\n" in text else "\n"
    made = ends.join(lines) + ends
    try:
        read = parse_document(made.encode("utf-8", "surrogatepass"), "the file").value
    except DocumentError:
        return None
    return made if _same(read, new) else None


@dataclass(frozen=True, slots=True)
class _Entry:
    """A member of a mapping or an item of a list, as lines: ``head`` to ``at`` are blank lines and comments before it,
    ``at`` to ``stop`` it and what is below it."""

    node: Any
    head: int
    at: int
    stop: int


@dataclass(slots=True)
class _File:
    lines: list[str]
    covered: frozenset[int]
    dashes: Sequence[tuple[int, int]]
    notes: Mapping[int, str]
    comments: Comments
    moved: Moved
    known: str = field(default="")

    @classmethod
    def of(cls, text: str, comments: Comments, moved: Moved) -> "_File":
        """``covered`` are the lines that hold more than a comment, ``dashes`` the places of list items."""
        lines = text.lstrip("\ufeff").splitlines()
        covered: set[int] = set()
        dashes: list[tuple[int, int]] = []
        notes: dict[int, str] = {}
        end = (0, 0)
        for token in yaml.scan(text.lstrip("\ufeff"), Loader=yaml.SafeLoader):
            begin = token.start_mark.line, token.start_mark.column
            notes.update(_between(lines, end, begin))
            last = token.end_mark.line - (token.end_mark.column == 0 and token.end_mark.line > begin[0])
            if token.end_mark.index > token.start_mark.index:
                covered.update(range(begin[0], last + 1))
                end = token.end_mark.line, token.end_mark.column
            if isinstance(token, yaml.BlockEntryToken):
                dashes.append(begin)
        notes.update(_between(lines, end, (len(lines), 0)))
        known = " ".join(" ".join(notes[line].lstrip("#").split()) for line in sorted(notes))
        return cls(lines, frozenset(covered), dashes, notes, comments, moved, known)

    def mapping(
        self, node: Any, start: int, stop: int, old: Mapping[str, JSON], new: Mapping[str, JSON], path: JSONPath
    ) -> list[str]:
        """The lines of a block mapping."""
        begins = [key.start_mark.line for key, _ in node.value]
        entries = dict(zip(old, self._entries([value for _, value in node.value], begins, start, stop), strict=True))
        column = node.value[0][0].start_mark.column
        found: list[str] = []
        for name in in_order(new, list(old)):
            at = (*path, name)
            if name in entries:
                found += self._entry(entries[name], old[name], {name: new[name]}, at, column)
            else:
                found += self._fresh({name: new[name]}, path, column)
        for name in old.keys() - new.keys():
            found += self._notes_of(range(entries[name].head, entries[name].stop), column)
        return found

    def _sequence(
        self, node: Any, start: int, stop: int, old: Sequence[JSON], new: Sequence[JSON], path: JSONPath
    ) -> list[str]:
        """The lines of a block list."""
        column = node.start_mark.column
        begins = [line for line, place in self.dashes if place == column and start <= line < stop]
        entries = list(self._entries(node.value, begins, start, stop))
        partner = self.moved.get(path) or _partners(old, new)
        found: list[str] = []
        for index, item in enumerate(new):
            known = partner.get(index)
            if known is None:
                found += self._fresh_item(item, (*path, index), column)
            else:
                found += self._item(entries[known], old[known], item, (*path, index), column)
        for index in set(range(len(old))) - set(partner.values()):
            found += self._notes_of(range(entries[index].head, entries[index].stop), column)
        return found

    def _entry(self, entry: _Entry, old: JSON, member: Mapping[str, JSON], path: JSONPath, column: int) -> list[str]:
        ((_, new),) = member.items()
        head = [*self.lines[entry.head : entry.at], *self.said(path, column)]
        if _same(old, new) and not self._says(path):
            return [*head, *self.lines[entry.at : entry.stop]]
        inner = self._below(entry, old, new, path, entry.at + 1)
        if inner is not None:
            return [*head, self.lines[entry.at], *inner]
        own = self._notes_of(range(entry.at, entry.stop), column)
        return [*head, *own, *self._fresh(member, path[:-1], column, said=True)]

    def _item(self, entry: _Entry, old: JSON, new: JSON, path: JSONPath, column: int) -> list[str]:
        head = [*self.lines[entry.head : entry.at], *self.said(path, column)]
        if _same(old, new) and not self._says(path):
            return [*head, *self.lines[entry.at : entry.stop]]
        dashed = self.lines[entry.at]
        # The first key stands on the line of the dash: taken off while the members are written, and put back after.
        self.lines[entry.at] = f"{dashed[:column]} {dashed[column + 1 :]}"
        inner = self._below(entry, old, new, path, entry.at)
        self.lines[entry.at] = dashed
        if inner is None:
            own = self._notes_of(range(entry.at, entry.stop), column)
            return [*head, *own, *self._fresh_item(new, path, column, said=True)]
        first = next(n for n, line in enumerate(inner) if line.strip() and not line.lstrip().startswith("#"))
        before = [f"{line[:column]}{line[column:].lstrip()}" for line in inner[:first] if line.strip()]
        return [*head, *before, f"{inner[first][:column]}-{inner[first][column + 1 :]}", *inner[first + 1 :]]

    def _below(self, entry: _Entry, old: JSON, new: JSON, path: JSONPath, start: int) -> list[str] | None:
        """The lines of what is inside an entry, where both are blocks of one kind; else None."""
        if not _block(entry.node) or not new:
            return None
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self.mapping(entry.node, start, entry.stop, old, new, path)
        if isinstance(old, list) and isinstance(new, list) and isinstance(entry.node, yaml.SequenceNode):
            return self._sequence(entry.node, start, entry.stop, old, new, path)
        return None

    def _entries(self, nodes: Sequence[Any], begins: Sequence[int], start: int, stop: int) -> Iterator[_Entry]:
        """What stands before the first one belongs to it; comments and blank lines belong to what follows them."""
        heads = [start, *(self._head(at) for at in begins[1:])]
        for node, head, at, end in zip(nodes, heads, begins, [*heads[1:], stop], strict=True):
            yield _Entry(node, min(head, at), at, end)

    def _head(self, at: int) -> int:
        while at - 1 not in self.covered:
            at -= 1
        return at

    def _fresh(self, member: Mapping[str, JSON], path: JSONPath, column: int, *, said: bool = False) -> list[str]:
        """A member that is written anew; ``said``: what is said about the member itself stands already."""
        ((name, _),) = member.items()
        return _padded(write_yaml(member, self._relative(path, (*path, name) if said else None)), column)

    def _fresh_item(self, item: JSON, path: JSONPath, column: int, *, said: bool = False) -> list[str]:
        relative = {(0, *at[len(path) :]): lines for at, lines in self._new_under(path) if not (said and at == path)}
        return _padded(write_yaml([item], relative), column)

    def _relative(self, path: JSONPath, without: JSONPath | None) -> Comments:
        return {at[len(path) :]: lines for at, lines in self._new_under(path) if at not in (path, without)}

    def _new_under(self, path: JSONPath) -> Iterator[tuple[JSONPath, list[str]]]:
        for at, lines in self.comments.items():
            if at[: len(path)] == path and (more := [line for line in lines if not self._stands(line)]):
                yield at, more

    def said(self, path: JSONPath, column: int) -> list[str]:
        """The comments on a place that do not stand in the file yet."""
        lines = [line for line in self.comments.get(path, ()) if not self._stands(line)]
        return _padded(write_yaml({"": None}, {(): lines}), column)[:-1]

    def _stands(self, line: str) -> bool:
        return " ".join(line.split()) in self.known

    def _says(self, path: JSONPath) -> bool:
        return any(at != path for at, _ in self._new_under(path))

    def _notes_of(self, lines: range, column: int) -> list[str]:
        """The comments in lines that are written anew, above what takes their place."""
        return [f"{' ' * column}{self.notes[line]}" for line in lines if line in self.notes]


def in_order(new: Mapping[str, JSON], old: Sequence[str]) -> list[str]:
    """The keys of ``new``: those of ``old`` in its order, others after the key that they follow in ``new``."""
    found = [name for name in old if name in new]
    before: str | None = None
    for name in new:
        if name not in found:
            found.insert(found.index(before) + 1 if before is not None else 0, name)
        before = name
    return found


def _between(lines: Sequence[str], end: tuple[int, int], begin: tuple[int, int]) -> Iterator[tuple[int, str]]:
    """The comments between two tokens, where nothing else but white space can be."""
    for number in range(end[0], min(begin[0], len(lines) - 1) + 1):
        line = lines[number]
        gap = line[end[1] if number == end[0] else 0 : begin[1] if number == begin[0] else len(line)]
        if "#" in gap:
            yield number, gap[gap.index("#") :].rstrip()


def _partners(old: Sequence[JSON], new: Sequence[JSON]) -> dict[int, int]:
    """Equal items of two lists, in order."""
    one, other = ([json.dumps(item, sort_keys=True) for item in items] for items in (old, new))
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return {block.b + n: block.a + n for block in blocks for n in range(block.size)}


def _same(old: JSON, new: JSON) -> bool:
    """Equal as JSON: ``true`` is not 1, and 1 not 1.0."""
    return json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def _block(node: Any) -> bool:
    return isinstance(node, _ANY) and not node.flow_style and bool(node.value)


def _padded(text: str, column: int) -> list[str]:
    return [f"{' ' * column}{line}" if line else "" for line in text.splitlines()]
