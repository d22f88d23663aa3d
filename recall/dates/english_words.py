"""The words and pieces of patterns that English dates are made of."""

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Northern hemisphere; winter 2023 runs from December 2023 to February 2024.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
NUMBERS = {
    name: number
    for number, names in enumerate(
        ("a an one", "two couple", "three few", "four", "five", "six", "seven"), start=1
    )
    for name in names.split()
} | {"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}

MONTH = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
YEAR = r"(?P<year>(?:19|20)\d\d)\b"
DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
COUNT = r"(?P<count>\d{1,3}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + r")"
UNIT = r"(?P<unit>day|week|month|year)s?\b"
SEASON = "(?P<season>" + "|".join(SEASONS) + r")\b"
