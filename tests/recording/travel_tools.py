"""The tools for trips: documents, flights, hotels and requests."""

from typing import Any

from strands import tool

_DOCUMENTS = {
    "travel-policy-2023": (
        "Trips are booked at least 7 days ahead. A hotel may cost up to 120 EUR a night. "
        "Requests go to the head of department."
    ),
    "travel-policy-2026": (
        "Trips are booked at least 14 days ahead. A hotel may cost up to 180 EUR a night. "
        "Requests go to the travel desk."
    ),
}
_FLIGHTS = {
    ("FRA", "HND", "2026-12-20"): [("LH714", 612, "10:05"), ("NH204", 689, "18:40"), ("AY1402", 574, "06:15")],
    ("FRA", "HND", "2026-12-21"): [("LH716", 655, "13:45"), ("NH224", 701, "20:40")],
}
_WITH_STOPS = {"AY1402"}
_HOTELS = {("Tokyo", 3): ("Sumida Inn", 384), ("Tokyo", 2): ("Ueno House", 210)}


class Travel:
    """What the tools for trips work on; numbers go on from ``first_id``."""

    def __init__(self, first_id: int) -> None:
        self._next = first_id

    def tools(self) -> list[Any]:
        """The tools, bound to this backend."""
        return [
            self.fetch_document,
            self.search_flights,
            self.search_hotels,
            self.book_flight,
            self.file_travel_request,
        ]

    def _number(self) -> int:
        self._next += 1
        return self._next

    @tool(name="documents__Fetch")
    def fetch_document(self, document: str) -> dict[str, Any]:
        """Fetch a document of the company.

        Args:
            document: name of the document
        """
        return {"document": document, "text": _DOCUMENTS[document]}

    @tool
    def search_flights(
        self, origin: str, destination: str, date: str, max_price: int = 10_000, non_stop: bool = True
    ) -> list[dict[str, Any]]:
        """Search flights, the cheapest first.

        Args:
            origin: airport code
            destination: airport code
            date: day of departure
            max_price: highest price in EUR
            non_stop: only direct flights
        """
        found = [
            {"flight": flight, "price": price, "departs": departs}
            for flight, price, departs in _FLIGHTS[origin, destination, date]
            if price <= max_price and not (non_stop and flight in _WITH_STOPS)
        ]
        return sorted(found, key=lambda row: row["price"])

    @tool
    def search_hotels(self, city: str, nights: int) -> list[dict[str, Any]]:
        """Search hotels, the best first, with the price of the whole stay in EUR.

        Args:
            city: city
            nights: how many nights
        """
        hotel, price = _HOTELS[city, nights]
        return [{"hotel": hotel, "price": price}]

    @tool
    def book_flight(self, flight: str, passengers: list[str], seat: str) -> dict[str, Any]:
        """Book a flight.

        Args:
            flight: flight number
            passengers: names
            seat: window or aisle
        """
        return {"booking": f"PNR-{self._number():X}", "flight": flight, "passengers": passengers, "seat": seat}

    @tool
    def file_travel_request(self, traveller: str, flight: str, hotel: str) -> dict[str, Any]:
        """File a travel request.

        Args:
            traveller: who travels
            flight: flight number
            hotel: name of the hotel
        """
        return {"request": f"TR-{self._number()}", "state": "filed"}
