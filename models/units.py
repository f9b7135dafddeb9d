"""Units of measurement and currencies: their written forms in four languages, and how they convert."""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: what it measures, and how many base units of that it is."""

    measures: str
    factor: float


_ROWS = """
length 1000 km kilometer kilometers kilometre kilometres kilomètre kilomètres kilómetro kilómetros
length 1 m meter meters metre metres metern mètre mètres metro metros
length .01 cm centimeter centimeters centimetre centimetres zentimeter centimètre centimètres
length .01 centímetro centímetros
length .001 mm millimeter millimeters millimetre millimetres millimètre millimètres milímetro milímetros
length 1609.344 mi mile miles meile meilen milla millas
length 1852 nmi sm seemeile seemeilen
length .9144 yd yard yards
length .3048 ft foot feet fuß fuss pied pieds
length .0254 inch inches zoll pouce pouces pulgada pulgadas
mass 1000 t tonne tonnes ton tons tonnen tonelada toneladas
mass 1 kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos
mass .001 g gram grams gramm gramme grammes gramo gramos
mass 1e-6 mg milligram milligrams milligramm milligramme milligrammes miligramo miligramos
mass .45359237 lb lbs pound_mass
mass .028349523 oz ounce ounces unze unzen
volume 1 l liter liters litre litres litern litro litros
volume .1 dl deciliter decilitre deziliter
volume .01 cl centiliter centilitre zentiliter
volume .001 ml milliliter milliliters millilitre millilitres mililitro mililitros
volume 100 hl hectoliter hectolitre hektoliter
volume 1000 m3 m³ cbm
time .001 ms millisecond milliseconds millisekunde millisekunden
time 1 s sec secs second seconds sekunde sekunden seconde secondes segundo segundos
time 60 min mins minute minutes minuten minuto minutos
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas
time 86400 day days tag tage tagen jour jours día días
time 604800 week weeks woche wochen semaine semaines semana semanas
time 2629800 month months monat monate monaten mois mes meses
time 31557600 yr yrs year years jahr jahre jahren an ans année années año años
area 1 m2 m² qm sqm
area 1e4 ha hectare hectares hektar hectárea hectáreas
area 1e6 km2 km²
area 4046.86 acre acres
speed .2777778 km/h kmh kph
speed 1 m/s
speed .44704 mph
speed .514444 kn knot knots knoten
pressure 1e5 bar
pressure 100 mbar hpa
pressure 1e6 mpa
pressure 1e3 kpa
pressure 1 pa pascal
pressure 6894.76 psi
power 1 w watt watts
power 1e3 kw kilowatt kilowatts
power 1e6 mw megawatt megawatts
energy 3.6e6 kwh
energy 4184 kcal
energy 1e3 kj
energy 1 j joule joules
voltage 1 v volt volts
voltage 1e3 kv
current 1 a amp amps ampere
current .001 ma
frequency 1 hz hertz
frequency 1e3 khz
frequency 1e6 mhz
frequency 1e9 ghz
data 1e3 kb kilobyte kilobytes
data 1e6 mb megabyte megabytes
data 1e9 gb gigabyte gigabytes
data 1e12 tb terabyte terabytes
level 1 db decibel decibels
resistance 1 ω ohm ohms
resistance 1e3 kω
celsius 1 °c celsius
fahrenheit 1 °f fahrenheit
kelvin 1 kelvin
angle 1 ° degree degrees grad degré degrés grado grados
share 1 % percent prozent pct pourcent
share .1 ‰ permille promille
eur 1 € eur euro euros
usd 1 $ usd dollar dollars dólar dólares
gbp 1 £ gbp pound pounds sterling pfund livre livres libra libras
jpy 1 ¥ jpy yen
chf 1 chf franken sfr
krone 1 kr kr. krone kroner kronen krona kronor dkk sek nok couronne couronnes corona coronas
cent 1 cents ct
pence 1 pence penny
"""


def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for row in _ROWS.strip().splitlines():
        measures, factor, *forms = row.split()
        for form in forms:
            table[form] = Unit(measures, float(factor))
    return table


UNITS = _table()
"""Every written form, in small letters, with its unit."""
SIGNS = "€$£¥%‰°"
"""Units of one sign, which may touch their number."""


def unit_of(word: str) -> Unit | None:
    """Return the unit that a word names, or None."""
    low = word.casefold()
    return UNITS.get(low) or UNITS.get(low.rstrip("."))
