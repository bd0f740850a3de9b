"""Small numbers as words, in the languages that requests are measured in. Of one, only words that are no article."""

_WRITTEN = {
    0: "zero none null zéro cero ninguno ninguna zero żaden żadna",
    1: "one eins",
    2: "two zwei deux dos dwa dwie dwóch due",
    3: "three drei trois tres trzy trzech tre",
    4: "four vier quatre cuatro cztery czterech quattro",
    5: "five fünf cinq cinco pięć pięciu cinque",
    6: "six sechs seis sześć sześciu sei",
    7: "seven sieben sept siete siedem siedmiu sette",
    8: "eight acht huit ocho osiem ośmiu otto",
    9: "nine neun neuf nueve dziewięć dziewięciu nove",
    10: "ten zehn dix diez dziesięć dziesięciu dieci",
    11: "eleven elf onze once jedenaście",
    12: "twelve zwölf douze doce dwanaście",
}
NUMBER_WORDS = {number: frozenset(words.split()) for number, words in _WRITTEN.items()}
"""By the number, in lower case."""
