"""Countries, regions and cities under all their names and codes.

Data: GeoNames (CC BY 4.0), see ``data/README.md``; read from the package on first use and never changed. What
GeoNames leaves out (everyday short names of countries, parts of the United Kingdom, Canadian and Australian regions)
is listed here.
"""

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final, NamedTuple

from aem_monitor.scoring.values.forms import Agreement
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.words import flat, listed


class Place(NamedTuple):
    """One place: ``kind`` is country, region or city, ``within`` the codes of what contains it, ``size`` thousands of
    people."""

    kind: str
    code: str
    within: frozenset[str]
    size: int


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """``names`` maps a folded name to its places, biggest first; ``codes`` maps codes, upper case, likewise."""

    names: Mapping[str, tuple[Place, ...]]
    codes: Mapping[str, tuple[Place, ...]]


_COUNTRY_ALIASES: Final = {
    "US": "usa|us|united states of america|america|the states|u s|u s a",
    "GB": "uk|great britain|britain|u k|united kingdom of great britain and northern ireland",
    "NL": "netherlands|holland",
    "CZ": "czech republic",
    "KR": "korea|republic of korea",
    "KP": "democratic peoples republic of korea|dprk",
    "RU": "russian federation",
    "AE": "uae|emirates",
    "CI": "cote divoire",
    "CV": "cape verde",
    "CD": "dr congo|drc|congo kinshasa",
    "CG": "congo brazzaville|congo",
    "SZ": "swaziland",
    "MK": "macedonia",
    "MM": "burma",
    "TL": "east timor",
    "TR": "turkiye",
    "VN": "viet nam",
    "SY": "syrian arab republic",
    "IR": "islamic republic of iran",
    "LA": "lao peoples democratic republic",
    "VA": "vatican city|holy see",
    "PS": "palestine",
    "BN": "brunei darussalam",
    "CN": "peoples republic of china|prc",
    "TW": "republic of china",
    "MO": "macau",
    "BO": "plurinational state of bolivia",
    "VE": "bolivarian republic of venezuela",
    "TZ": "united republic of tanzania",
    "MD": "republic of moldova",
    "IE": "republic of ireland",
    "GM": "the gambia",
    "BS": "the bahamas",
    "DE": "federal republic of germany|deutschland",
    "ES": "espana",
    "EU": "",
}
_REGIONS: Final = """
GB:ENG england|GB:SCT scotland|GB:WLS wales|GB:NIR northern ireland
CA:ON ontario|CA:QC quebec|CA:BC british columbia|CA:AB alberta|CA:MB manitoba|CA:SK saskatchewan|CA:NS nova scotia
CA:NB new brunswick|CA:NL newfoundland and labrador|CA:PE prince edward island|CA:YT yukon|CA:NT northwest territories
CA:NU nunavut
AU:NSW new south wales|AU:VIC victoria|AU:QLD queensland|AU:WA western australia|AU:SA south australia|AU:TAS tasmania
AU:ACT australian capital territory|AU:NT northern territory
"""
_GEONAMES_CA: Final = dict(
    pair.split(":") for pair in listed("01:AB 02:BC 03:MB 04:NB 05:NL 07:NS 08:ON 09:PE 10:QC 11:SK")
)
_GEONAMES_AU: Final = dict(pair.split(":") for pair in listed("01:ACT 02:NSW 03:NT 04:QLD 05:SA 06:TAS 07:VIC 08:WA"))
_NICKNAMES: Final = {
    "New York City/US/NY": (
        "big apple",
        "nyc",
        "gotham",
    ),
    "Los Angeles/US/CA": ("city of angels",),
    "Chicago/US/IL": (
        "windy city",
        "chi town",
        "chitown",
    ),
    "Philadelphia/US/PA": (
        "philly",
        "city of brotherly love",
    ),
    "San Francisco/US/CA": (
        "san fran",
        "frisco",
        "sf",
    ),
    "Las Vegas/US/NV": (
        "vegas",
        "sin city",
    ),
    "New Orleans/US/LA": (
        "nola",
        "big easy",
    ),
    "Detroit/US/MI": (
        "motor city",
        "motown",
    ),
    "Boston/US/MA": ("beantown",),
    "Denver/US/CO": ("mile high city",),
    "Seattle/US/WA": ("emerald city",),
    "Atlanta/US/GA": ("hotlanta",),
    "Nashville/US/TN": ("music city",),
    "Portland/US/OR": ("rose city",),
    "Miami/US/FL": ("magic city",),
    "Houston/US/TX": ("space city",),
    "Cincinnati/US/OH": ("cincy",),
    "Indianapolis/US/IN": ("indy",),
    "Minneapolis/US/MN": ("mpls",),
    "Sacramento/US/CA": (
        "sac town",
        "sacto",
    ),
    "Oklahoma City/US/OK": ("okc",),
    "Salt Lake City/US/UT": ("slc",),
    "Washington/US/DC": ("the district",),
}
"""Everyday nicknames of cities (those that tourist boards and headlines use)."""

_CONTINENTS: Final = {
    "africa": "AF",
    "asia": "AS",
    "europe": "EU",
    "north america": "NA",
    "south america": "SA",
    "oceania": "OC",
    "antarctica": "AN",
}
_NAME: Final = re.compile(r"[^a-z]+")
_LEADING: Final = ("the ", "city of ", "state of ")
_SAINT: Final = re.compile(r"\bst\b")
_MILLION: Final = 1000
_DOMINANT: Final = 8
"""A city this many times larger than its namesakes is the one that the bare name means."""


def _key(name: str) -> str:
    key = _NAME.sub(" ", flat(name).replace("'", "").replace("&", " and ")).strip()
    if key.startswith(_LEADING):
        key = key.removeprefix("the ").removeprefix("city of ").removeprefix("state of ")
    return _SAINT.sub("saint", key) if "st" in key else key


@cache
def gazetteer() -> Gazetteer:
    """All places by name and by code."""
    packed = resources.files("aem_monitor.scoring.values").joinpath("data/places.json.gz").read_bytes()
    data = json.loads(gzip.decompress(packed))
    names: dict[str, dict[Place, None]] = {}
    codes: dict[str, dict[Place, None]] = {}

    def name(text: str, place: Place) -> None:
        names.setdefault(_key(text), {})[place] = None

    for english, iso, iso3, continent in data["countries"]:
        country = Place("country", iso, frozenset({"continent:" + continent}), 10**6)
        name(english, country)
        for alias in filter(None, _COUNTRY_ALIASES.get(iso, "").split("|")):
            name(alias, country)
        codes.setdefault(iso, {})[country] = None
        codes.setdefault(iso3, {})[country] = None
    for english, code in _CONTINENTS.items():
        name(english, Place("continent", code, frozenset(), 10**7))
    namesakes: dict[tuple[str, str], str] = {}
    regions = [(f"US:{code}", english) for english, code in data["us_states"]]
    for entry in _REGIONS.strip().replace("\n", "|").split("|"):
        code, _, english = entry.partition(" ")
        regions.append((code, english))
    for code, english in regions:
        if code == "US:DC":
            continue
        region = Place("region", code, frozenset({"country:" + code[:2]}), 10**5)
        name(english, region)
        codes.setdefault(code[3:], {})[region] = None
        namesakes[f"region:{code}", _key(english)] = code[3:]
    for english, iso, admin, size, others in data["cities"]:
        part = {"CA": _GEONAMES_CA, "AU": _GEONAMES_AU}.get(iso, {}).get(admin, admin)
        city = Place("city", f"{english}/{iso}/{part}", frozenset({"country:" + iso, f"region:{iso}:{part}"}), size)
        name(english, city)
        short = namesakes.get((f"region:{iso}:{part}", _key(english.removesuffix(" City"))))
        if short and size >= _MILLION:
            # "NY" is written for the city as well.
            codes.setdefault(short, {})[city] = None
        for nickname in _NICKNAMES.get(city.code, ()):
            name(nickname, city)
        for other in others:
            if len(other) <= 3:
                codes.setdefault(other.upper(), {})[city] = None
            else:
                name(other, city)
        if city.code == "Washington/US/DC":
            codes.setdefault("DC", {})[city] = None
    return Gazetteer(MappingProxyType(_ranked(names)), MappingProxyType(_ranked(codes)))


def _ranked(table: dict[str, dict[Place, None]]) -> dict[str, tuple[Place, ...]]:
    return {key: tuple(sorted(places, key=lambda place: -place.size)) for key, places in table.items()}


def _likely(places: tuple[Place, ...], key: str) -> tuple[Place, ...]:
    """Without the cities that bear the name of a country or region only as a second name: Mexico is not Mexico City
    and Kansas not Kansas City. A city of a million keeps the name of its region (New York)."""
    kinds = {place.kind for place in places}
    if not kinds & {"country", "region"}:
        return places
    floor = _MILLION if "country" not in kinds else 10**9
    return tuple(
        place
        for place in places
        if place.kind != "city" or place.size >= floor or _key(place.code.partition("/")[0]) == key
    )


def _look_up(text: str, hinted: bool) -> tuple[Place, ...]:
    text = text.strip(" .")
    known = gazetteer()
    places = _likely(known.names.get(_key(text), ()), _key(text))
    letters = text.replace(".", "").replace(" ", "")
    if 2 <= len(letters) <= 3 and letters.isalpha() and (letters.isupper() or hinted):
        places = (*places, *known.codes.get(letters.upper(), ()))
    return places


@remembered(8192)
def read_place(text: str, *, hinted: bool = False) -> tuple[Place, ...]:
    """The places that a whole text may name, best first; () if it names none. Codes count in upper case, or where a
    place is due (``hinted``). "London, England" and "Sydney Australia" narrow the first part by the second."""
    if not text or len(text) > 80 or any(char.isdigit() for char in text):
        return ()
    if "," in text and (exact := gazetteer().names.get(_key(text))):
        return exact
    parts = [part for part in re.split(r"\s*,\s*", text.strip()) if part]
    if len(parts) == 1:
        whole = _look_up(parts[0], hinted)
        if whole:
            return whole
        words = parts[0].split()
        for cut in range(len(words) - 1, max(len(words) - 4, 0), -1):
            found = _narrowed(" ".join(words[:cut]), " ".join(words[cut:]), hinted)
            if found:
                return found
        return ()
    if not parts:
        return ()
    head, *tails = parts
    found = _look_up(head, hinted)
    for tail in tails:
        found = _contained(found, _look_up(tail, True))
    return found


def _narrowed(head: str, tail: str, hinted: bool) -> tuple[Place, ...]:
    return _contained(_look_up(head, hinted), _look_up(tail, hinted))


def _contained(places: tuple[Place, ...], containers: tuple[Place, ...]) -> tuple[Place, ...]:
    labels = {f"{container.kind}:{container.code}" for container in containers}
    inside = tuple(place for place in places if place.within & labels)
    if inside:
        return inside
    return tuple(place for place in places if place in containers)


def agree_places(a: tuple[Place, ...], b: tuple[Place, ...]) -> Agreement:
    """Whether two readings name one place. The best readings decide; namesakes far down the list are only possible."""
    shared = set(a) & set(b)
    if not shared:
        return Agreement.DIFFERENT
    if a[0] in shared or b[0] in shared:
        for readings in (a, b):
            if readings[0] not in shared and readings[0].kind == "city":
                best = max(place.size for place in shared)
                if readings[0].size >= _DOMINANT * max(best, 1):
                    return Agreement.UNKNOWN
        city_for_region = {a[0].kind, b[0].kind} == {"city", "region"} and a[0] not in b[:1]
        return Agreement.PROBABLY if city_for_region else Agreement.SAME
    return Agreement.UNKNOWN
