"""Units of measure and currencies: spelling to dimension and size in base units.

Sizes are exact (SI brochure, international yard and pound, US customary volumes). Currencies are dimensions of their
own: nothing is converted between them. Temperature scales have an offset and are dimensions of their own for that
reason.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Final

_TABLE: Final = """
length  1        m meter meters metre metres
length  1000     km kms kilometer kilometers kilometre kilometres
length  1/100    cm cms centimeter centimeters centimetre centimetres
length  1/1000   mm millimeter millimeters millimetre millimetres
length  0.0254   inch inches
length  0.3048   ft foot feet
length  0.9144   yd yds yard yards
length  1609.344 mi mile miles
length  1852     nmi
area    1        sqm m2 m² square_meter square_meters square_metre square_metres sq_m
area    1000000  square_kilometer square_kilometers square_kilometre square_kilometres sq_km km2 km²
area    2589988.110336 square_mile square_miles sq_mi
area    0.83612736 square_yard square_yards
area    0.00064516 square_inch square_inches
area    0.09290304 sqft ft2 square_foot square_feet sq_ft ft²
area    4046.8564224 acre acres
area    10000    ha hectare hectares
mass    1        kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes
mass    1/1000   g gram grams
mass    1/1000000 mg milligram milligrams
mass    1/1000000000 µg μg mcg ug microgram micrograms
mass    1000     tonne tonnes
mass    0.45359237 lb lbs pound_mass
mass    0.028349523125 oz ounce ounces
volume  1        l liter liters litre litres
volume  1000     m3 m³ cubic_meter cubic_meters cubic_metre cubic_metres cu_m
volume  28.316846592 cubic_foot cubic_feet cu_ft ft3
volume  1/1000   ml milliliter milliliters millilitre millilitres
volume  3.785411784 gal gallon gallons
volume  0.2365882365 cup cups
volume  0.01478676478125 tbsp tablespoon tablespoons
volume  0.00492892159375 tsp teaspoon teaspoons
speed   1        kmh kph km/h km_per_hour km_an_hour
speed   1        kilometer_per_hour kilometers_per_hour kilometre_per_hour kilometres_per_hour
speed   1        kilometers_an_hour kilometres_an_hour
speed   1.609344 mph mile_per_hour miles_per_hour mile_an_hour miles_an_hour
speed   3.6      m/s meters_per_second metres_per_second
data    1        byte bytes
data    1000     kb kilobyte kilobytes
data    1000000  mb megabyte megabytes
data    1000000000 gb gigabyte gigabytes
data    1000000000000 tb terabyte terabytes
power   1        watt watts
power   1000     kw kilowatt kilowatts
energy  1        kwh
energy  1000     mwh
celsius 1        °c celsius centigrade degrees_celsius degree_celsius degrees_c degree_c
celsius 1        degrees_centigrade degree_centigrade deg_c deg_celsius
fahrenheit 1     °f fahrenheit degrees_fahrenheit degree_fahrenheit degrees_f degree_f deg_f deg_fahrenheit
angle   1        ° degree degrees deg
percent 1        % percent pct pc per_cent
percent 1/100    basis_points bps
money:usd 1      $ usd us$ dollar dollars us_dollar us_dollars american_dollar american_dollars buck bucks
money:usd 1/100  cent cents ¢
money:eur 1      € eur euro euros
money:gbp 1      £ gbp british_pound british_pounds pound pounds quid pounds_sterling pound_sterling
money:jpy 1      ¥ jpy yen japanese_yen
money:cny 1      cny rmb 元 chinese_yuan yuan renminbi
money:inr 1      ₹ inr indian_rupee indian_rupees rs rupee rupees
money:cad 1      cad c$ ca$ canadian_dollar canadian_dollars
money:aud 1      aud a$ au$ australian_dollar australian_dollars
money:chf 1      chf swiss_franc swiss_francs franc francs
money:krw 1      ₩ krw won
money:brl 1      brl r$ real reais
money:mxn 1      mxn mx$ peso pesos
money:sek 1      sek
money:nok 1      nok
money:dkk 1      dkk
money:sgd 1      sgd s$
money:hkd 1      hkd hk$
money:nzd 1      nzd nz$
money:zar 1      zar rand
money:gbp 1/100  pence penny pennies
money:nzd 1      new_zealand_dollar new_zealand_dollars
money:hkd 1      hong_kong_dollar hong_kong_dollars
money:sgd 1      singapore_dollar singapore_dollars
money:twd 1      twd nt$ taiwan_dollar taiwan_dollars
money:aed 1      aed dirham dirhams
money:sar 1      sar riyal riyals
money:kwd 1      kwd kuwaiti_dinar kuwaiti_dinars
money:try 1      lira liras turkish_lira
money:pln 1      pln zloty zlotys zloties
money:huf 1      huf forint forints
money:czk 1      czk koruna korunas czech_koruna
money:sek 1      krona kronor swedish_krona swedish_kronor
money:nok 1      norwegian_krone norwegian_kroner
money:dkk 1      danish_krone danish_kroner
money:ils 1      ils shekel shekels
money:thb 1      thb baht
money:idr 1      idr rupiah rupiahs
money:myr 1      myr ringgit
money:php 1      php philippine_peso philippine_pesos
money:rub 1      rub ruble rubles rouble roubles
money:uah 1      uah hryvnia hryvnias
money:vnd 1      vnd dong
money:ngn 1      ngn naira
money:egp 1      egp egyptian_pound egyptian_pounds
money:krw 1      korean_won south_korean_won
money:btc 1      btc bitcoin bitcoins
"""


@cache
def unit_table() -> Mapping[str, tuple[str, Fraction]]:
    """Spelling of a unit, folded, to (dimension, size in base units)."""
    table = {}
    for line in _TABLE.strip().splitlines():
        dimension, size, *names = line.split()
        for name in names:
            table[name.replace("_", " ")] = (dimension, Fraction(size))
    return MappingProxyType(table)


@cache
def currency_codes() -> tuple[str, ...]:
    """The ISO 4217 codes of the currencies in the table, folded, that are no English words."""
    money = (line.split() for line in _TABLE.strip().splitlines() if line.startswith("money:"))
    codes = {words[0].partition(":")[2] for words in money} | {"rmb"}
    return tuple(sorted(codes - {"try", "all"}))


def unit_factor(unit: str) -> Fraction:
    """Size of a unit in base units; 1 for an unknown one."""
    return unit_table().get(unit, ("", Fraction(1)))[1]


def same_unit(a: str, b: str) -> bool:
    """Whether two texts are names of one unit or currency ("tbsp", "tablespoon")."""
    table = unit_table()
    unit_a, unit_b = table.get(a.strip().lower()), table.get(b.strip().lower())
    return unit_a is not None and unit_a == unit_b
