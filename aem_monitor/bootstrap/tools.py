"""The ``tools`` of a draft: what only reads and what may be left out, each with the reason for the proposal."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.effects import Effect, effect_of
from aem_monitor.golden.reference import JSONPath
from aem_monitor.golden.toolrules import ToolRules
from aem_monitor.model.jsonvalue import JSON

CallName: TypeAlias = tuple[str, str | None]
"""Tool and action."""


@dataclass(slots=True)
class Toolbox:
    """What is proposed for every call that is known, and what an existing dialog already says of its tools."""

    effects: Mapping[CallName, Effect]
    definitions: Mapping[CallName, ToolDefinition]
    called: frozenset[CallName]
    stated: Mapping[str, ToolRules] = field(default_factory=dict)
    written: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        called: Iterable[CallName],
        definitions: Mapping[str, ToolDefinition],
        split: Callable[[str], CallName],
        stated: Mapping[str, ToolRules],
        written: Mapping[str, Any],
    ) -> "Toolbox":
        """Everything called or defined; ``split`` parts a whole name into tool and action."""
        known = frozenset(called)
        by_name = {split(name): definition for name, definition in definitions.items()}
        effects = {name: effect_of(*name, by_name.get(name)) for name in sorted({*known, *by_name}, key=_key)}
        return cls(effects, by_name, known, stated, written)

    def reads(self, name: CallName) -> bool:
        """Whether a call is taken to change nothing. What the existing dialog says of a tool stands."""
        rules = self.stated.get(name[0])
        if rules is not None and (rules.reads_all or name[1] in rules.reads):
            return True
        if name[0] in self.written and name in self.called and name[0] in self.stated:
            return False
        return self.effects[name].reads

    @property
    def all_reads(self) -> frozenset[CallName]:
        """Every known call that changes nothing."""
        return frozenset(name for name in self.effects if self.reads(name))

    def defaults(self, name: CallName) -> Mapping[str, JSON]:
        """Optional arguments with a default, as the tool's own schema has them."""
        definition = self.definitions.get(name)
        return definition.defaults() if definition is not None else {}

    def schemas(self, name: CallName) -> Mapping[str, JSON]:
        """The JSON Schemas of a call's arguments, as far as they are known."""
        definition = self.definitions.get(name)
        return definition.parameters if definition is not None else {}

    def entries(self, left_out: Mapping[CallName, frozenset[str]]) -> tuple[dict[str, Any], dict[JSONPath, list[str]]]:
        """The entries by tool, and the comments. ``left_out`` are arguments that some recording did without."""
        entries: dict[str, Any] = {tool: dict(entry) for tool, entry in self.written.items()}
        notes: dict[JSONPath, list[str]] = {}
        writes = []
        for name, effect in self.effects.items():
            tool, action = name
            if tool in self.written:
                continue
            whole = tool if action is None else f"{tool}.{action}"
            if not effect.reads:
                if name in self.called:
                    writes.append(f"{whole} ({effect.because})")
                continue
            entry = entries.setdefault(tool, {})
            if action is None:
                entry["read_only"] = True
            elif entry.get("read_only") is not True:
                entry.setdefault("read_only", []).append(action)
            notes.setdefault(("tools", tool), []).append(f"{whole}: taken for a read because {effect.because}; confirm")
        for name in self.called:
            self._optional(name, left_out.get(name, frozenset()), entries, notes)
        if writes:
            notes.setdefault(("tools",) if entries else (), []).append(
                f"Not listed, so taken for writes; confirm: {'; '.join(sorted(writes))}"
            )
        return dict(sorted(entries.items())), notes

    def _optional(
        self,
        name: CallName,
        left_out: frozenset[str],
        entries: dict[str, Any],
        notes: dict[JSONPath, list[str]],
    ) -> None:
        tool, action = name
        stated = self.stated.get(tool)
        known = stated.optional_args.get(action, {}) if stated is not None else {}
        defaults = {} if tool in self.written else self.defaults(name)
        found: dict[str, Any] = {arg: {"default": default} for arg, default in defaults.items() if arg not in known}
        found |= {arg: {} for arg in sorted(left_out) if arg not in known and arg not in found}
        if not found:
            return
        entry = entries.setdefault(tool, {})
        optional = entry.setdefault("optional_args", {})
        if not isinstance(optional, dict):
            optional = entry["optional_args"] = {arg: {} for arg in optional}
        if action is None:
            optional.update(found)
        else:
            listed = optional.get(action, {})
            optional[action] = {**(listed if isinstance(listed, dict) else {arg: {} for arg in listed}), **found}
        whole = tool if action is None else f"{tool}.{action}"
        if defaults:
            notes.setdefault(("tools", tool), []).append(f"{whole}: defaults are those of its parameter schema")
        if left_out:
            notes.setdefault(("tools", tool), []).append(
                f"{whole}: not every recording gave {', '.join(sorted(left_out))}; confirm that it is optional"
            )


def _key(name: CallName) -> tuple[str, str]:
    return name[0], name[1] or ""
