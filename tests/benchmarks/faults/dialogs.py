"""Good dialogs of four public collections in one form: what was said, and the calls with their results.

Licences and changes are those of ``tests/data/dialogs/README.md``, which has a sample of each. BFCL and NESTFUL have
calls without results and replies: results are made up here, as a function of the call, so that other arguments lead to
other results; NESTFUL's reply says what the last results hold.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

BUNDLED: Final = Path(__file__).parents[2] / "data" / "dialogs"
NOTHING: Final = object()
"""No result: distinct from a tool that returned null."""

_REFERENCE: Final = re.compile(r"\$(\w+)\.([\w.\[\]]+)\$")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made; ``name`` is ``tool`` or ``tool.action``."""

    name: str
    args: Mapping[str, Any]
    result: Any = NOTHING
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One user message, the calls after it and the reply."""

    user: str
    calls: tuple[Call, ...] = ()
    reply: str | None = None


Exchanges = tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class GoodDialog:
    """A dialog in which nothing is wrong. ``day`` is the day on which it took place."""

    source: str
    name: str
    exchanges: Exchanges
    day: str = "2024-05-15"


def read_dialogs(directory: Path) -> list[GoodDialog]:
    """The dialogs of all collections that ``directory`` has files of."""
    found: list[GoodDialog] = []
    for names, read in _READERS.items():
        for name in names:
            for path in (directory / name, directory / f"{name}.gz"):
                if path.exists():
                    found += read(path)
    return found


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines, plain or gzipped."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.strip():
                yield json.loads(line)


def is_good(row: Mapping[str, Any]) -> bool:
    """A tau-bench run that reached the goal by the annotator's own path, with calls, in a fresh environment."""
    return (
        row["reward"] > 0.5
        and not row["divergences"]
        and not row.get("env_mismatch")
        and any(message.get("tool_calls") for message in row["messages"])
    )


def tau_bench(path: Path) -> Iterator[GoodDialog]:
    """Real runs of agents: the calls that went through, each text that answers the user."""
    for row in rows(path):
        if is_good(row):
            name = f"tau-{row['run']}-{row['domain']}-{row['task_id']}-{row['trial']}"
            yield GoodDialog("tau-bench", name, tau_exchanges(row))


def tau_exchanges(row: Mapping[str, Any]) -> Exchanges:
    """The exchanges of a run's messages. The domain is the tool and the function its action, as with MCP servers."""
    results = {
        message.get("tool_call_id"): message["content"] for message in row["messages"] if message["role"] == "tool"
    }
    found: list[tuple[str, list[Call], list[str]]] = []
    for message in row["messages"]:
        if message["role"] == "user":
            found.append((message["content"] or "", [], []))
        elif message["role"] == "assistant" and found:
            for asked in message.get("tool_calls") or ():
                result = results.get(asked["id"])
                if result is not None and not str(result).lower().startswith(("error", "unknown")):
                    name = f"{row['domain']}.{asked['function']['name']}"
                    found[-1][1].append(Call(name, json.loads(asked["function"]["arguments"]), opened(result)))
            if not message.get("tool_calls") and message.get("content"):
                found[-1][2].append(message["content"])
    return tuple(Exchange(user, tuple(calls), texts[-1] if texts else None) for user, calls, texts in found)


def opened(text: Any) -> Any:
    """A result that is JSON text, decoded."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def api_bank(path: Path) -> Iterator[GoodDialog]:
    """Dialogs written by people, with their calls and results."""
    for row in rows(path):
        found: list[tuple[str, list[Call], list[str]]] = []
        for turn in row["turns"]:
            if turn["role"] == "user":
                found.append((turn["text"], [], []))
            elif turn["role"] == "tool" and not turn["exception"]:
                found[-1][1].append(Call(turn["name"], turn["arguments"], turn["output"]))
            elif turn["role"] == "assistant":
                found[-1][2].append(turn["text"])
        exchanges = tuple(Exchange(user, tuple(calls), texts[-1] if texts else None) for user, calls, texts in found)
        if any(exchange.calls for exchange in exchanges):
            yield GoodDialog("API-Bank", f"api-bank-{row['id']}", exchanges)


def bfcl(path: Path) -> Iterator[GoodDialog]:
    """Scripts of calls. A turn without calls is one in which the agent has to ask; the set has no replies.

    Where one class of functions is involved, it is the tool and the function its action.
    """
    for row in rows(path):
        exchanges = []
        prefix = f"{row['involved'][0]}." if len(row["involved"]) == 1 else ""
        for at, turn in enumerate(row["turns"]):
            calls = tuple(
                Call(prefix + call["name"], call["arguments"], made_up(call["name"], call["arguments"], ("status",)))
                for call in turn["gold_calls"]
            )
            exchanges.append(Exchange(turn["user"] or f"What about now? ({at + 1})", calls))
        if any(exchange.calls for exchange in exchanges):
            yield GoodDialog("BFCL", f"bfcl-{row['id']}", tuple(exchanges))


def nestful(path: Path) -> Iterator[GoodDialog]:
    """Chains of calls whose arguments name earlier results."""
    for row in rows(path):
        fields: dict[str, list[str]] = {call["label"]: [] for call in row["calls"]}
        for call in row["calls"]:
            for label, name in _REFERENCE.findall(json.dumps(call["arguments"])):
                if label in fields and name not in fields[label]:
                    fields[label].append(name)
        results: dict[str, Any] = {}
        calls = []
        for call in row["calls"]:
            args = _filled(call["arguments"], results)
            wanted = tuple(fields[call["label"]]) or ("reference",)
            results[call["label"]] = made_up(call["name"], args, wanted)
            calls.append(Call(call["name"], args, results[call["label"]]))
        if any("$" in json.dumps(call.args) for call in calls):
            continue  # an index or a whole result is referred to: not a value that could be followed
        last = [f"{name} is {value}" for name, value in results[row["calls"][-1]["label"]].items()]
        reply = f"This is what I found: the {', the '.join(last)}."
        yield GoodDialog("NESTFUL", f"nestful-{row['id']}", (Exchange(row["query"], tuple(calls), reply),))


def made_up(name: str, args: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """A result as a function of the call: identifiers that nothing else contains."""
    found: dict[str, Any] = {}
    for field in fields:
        if field == "status":
            found[field] = "done"
            continue
        digest = hashlib.sha256(f"{name}\x1f{json.dumps(args, sort_keys=True)}\x1f{field}".encode()).hexdigest()
        found[field] = f"{''.join(word[0] for word in re.findall('[a-zA-Z]+', field)).upper()}-{int(digest[:8], 16)}"
    return found


def _filled(value: Any, results: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        if whole and whole[2] in results.get(whole[1], {}):
            return results[whole[1]][whole[2]]
        return _REFERENCE.sub(lambda match: str(results.get(match[1], {}).get(match[2], match[0])), value)
    if isinstance(value, dict):
        return {key: _filled(item, results) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, results) for item in value]
    return value


_READERS: Final[Mapping[tuple[str, ...], Callable[[Path], Iterator[GoodDialog]]]] = {
    ("tau_bench_retail.jsonl", "tau_bench_airline.jsonl"): tau_bench,
    ("bfcl_multi_turn.jsonl",): bfcl,
    ("nestful.jsonl",): nestful,
    ("api_bank.jsonl",): api_bank,
}
