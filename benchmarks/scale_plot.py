"""A plot of `benchmarks/scale.py`'s figures as SVG, written by hand: two axes and some lines."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_WIDTH, _HEIGHT = 780, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 210, 40, 50
_COLOURS = ("#3b5bdb", "#2b8a3e", "#e8590c", "#862e9c", "#495057", "#c2255c", "#0c8599", "#5c940d")


def write_plot(path: Path, figures: Sequence[Mapping[str, Any]]) -> None:
    """CPU milliseconds of a search over the number of points, both axes in powers of ten."""
    lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in figures:
        if each["layout"] != "product":
            lines[f"meaning, {each['layout']}"].append((each["points"], each["dense_cpu"]))
            continue
        lines["meaning, beside others"].append((each["points"], each["dense_cpu"]))
        lines["meaning, alone"].append((each["points"], each["alone_cpu"]))
        lines["meaning, small account"].append((each["points"], each["small_cpu"]))
        lines["words, beside others"].append((each["points"], each["words_cpu"]))
        lines["words, alone"].append((each["points"], each["alone_words_cpu"]))
    every = [point for line in lines.values() for point in line]
    x_low, x_high = _decades(x for x, _ in every)
    y_low, y_high = _decades(y for _, y in every)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / (x_high - x_low)
        up = (math.log10(y) - y_low) / (y_high - y_low)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="22" font-size="14">Search: CPU milliseconds by number of points'
        "</text>",
    ]
    for exponent in range(x_low, x_high + 1):
        x, _ = place(10.0**exponent, 10.0**y_low)
        parts.append(_line(x, _TOP, x, _HEIGHT - _BOTTOM, "#dee2e6"))
        parts.append(_text(x, _HEIGHT - _BOTTOM + 18, f"{10**exponent:,}", "middle"))
    for exponent in range(y_low, y_high + 1):
        _, y = place(10.0**x_low, 10.0**exponent)
        parts.append(_line(_LEFT, y, _WIDTH - _RIGHT, y, "#dee2e6"))
        parts.append(_text(_LEFT - 8, y + 4, f"{10.0**exponent:g}", "end"))
    for number, (name, points) in enumerate(sorted(lines.items())):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [place(x, y) for x, y in sorted(points)]
        path_points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path_points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        y = _TOP + 14 + number * 20
        parts.append(_line(_WIDTH - _RIGHT + 12, y - 4, _WIDTH - _RIGHT + 30, y - 4, colour))
        parts.append(_text(_WIDTH - _RIGHT + 36, y, name, "start"))
    parts.append("</svg>\n")
    path.write_text("\n".join(parts), encoding="utf-8")


def _decades(values: Any) -> tuple[int, int]:
    found = [math.log10(value) for value in values]
    low, high = math.floor(min(found)), math.ceil(max(found))
    return low, max(high, low + 1)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        'stroke-width="1.5"/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#212529">{text}</text>'
