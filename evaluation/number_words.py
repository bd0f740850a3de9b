"""Small numbers as words, in the languages of the requests: only words with no other meaning in any of them.

An answer is read without its language, so *due*, *once*, *sei*, *null*, *none* and *one* count for no number.
"""

_WRITTEN = {
    0: "zero zéro cero ninguno ninguna zero żaden żadna",
    1: "eins",
    2: "two zwei deux dos dwa dwie dwóch",
    3: "three drei trois tres trzy trzech tre",
    4: "four vier quatre cuatro cztery czterech quattro",
    5: "five fünf cinq cinco pięć pięciu cinque",
    6: "six sechs seis sześć sześciu",
    7: "seven sieben sept siete siedem siedmiu sette",
    8: "eight acht huit ocho osiem ośmiu otto",
    9: "nine neun neuf nueve dziewięć dziewięciu nove",
    10: "ten zehn dix diez dziesięć dziesięciu dieci",
    11: "eleven elf onze jedenaście",
    12: "twelve zwölf douze doce dwanaście",
}
NUMBER_WORDS = {number: frozenset(words.split()) for number, words in _WRITTEN.items()}
"""Words of each number, in lower case."""
