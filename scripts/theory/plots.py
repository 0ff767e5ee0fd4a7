"""Plots as SVG that takes its colors from the page: lines, points and square pictures."""
import html
import math
import re

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 10, 44


def number(value, digits=3):
    """1312 -> '1 312', 0.000029 -> '2.9·10⁻⁵'."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if value == int(value) and size < 1e7:
        return f"{int(value):,}".replace(",", "\u202f").replace("-", "−")
    if 1e-3 <= size < 1e6:
        return f"{value:.{digits + 1}g}".replace("-", "−") if size < 1e4 else f"{round(value):,}".replace(",", "\u202f")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa}·10{raised}".replace("-", "−")


def power_of_ten(exponent):
    if -2 <= exponent <= 4:
        return number(10**exponent)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


GREEK = dict(alpha="α", beta="β", gamma="γ", delta="δ", eps="ε", eta="η", mu="μ", sigma="σ", phi="φ", sum="Σ", prod="Π",
             **{"lambda": "λ"})
SIGNS = {"&lt;=": "≤", "&gt;=": "≥", "&lt;-": "←", "sqrt": "√", " - ": " − ", "!=": "≠", "|_2": "|<sub>2</sub>"}


def formula(text):
    """The programs' plain text as HTML: Greek letters, subscripts, superscripts."""
    out = html.escape(text)
    for plain, sign in SIGNS.items():
        out = out.replace(plain, sign)
    out = re.sub(r"\b(" + "|".join(GREEK) + r")(?=\b|_|\d)", lambda m: GREEK[m[1]], out)
    out = re.sub(r"\^\(([^()]*)\)|\^(-?\w+)", lambda m: f"<sup>{m[1] or m[2]}</sup>", out)
    return re.sub(r"\b(\w~?)_(?:\{([^{}]*)\}|\(([^()]*)\)|(\w+))|(Σ|Π)_\{([^{}]*)\}",
                  lambda m: f"{m[1] or m[5]}<sub>{m[2] or m[3] or m[4] or m[6]}</sub>", out)


class Axis:
    """From values to a place between two ends."""

    def __init__(self, values, log, begin, end):
        self.log, self.begin, self.end = log, begin, end
        places = [self.scaled(v) for v in values] or [0, 1]
        self.low, self.high = min(places), max(places)
        if not log and 0 <= self.low < 0.6 * self.high:
            self.low = 0
        margin = 0.04 * (self.high - self.low) or 0.5
        self.low, self.high = self.low - margin * (self.low != 0), self.high + margin

    def scaled(self, value):
        return math.log10(value) if self.log else value

    def place(self, value):
        return self.begin + (self.scaled(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        """(place, text)"""
        span = self.high - self.low
        if self.log:
            step = max(1, math.ceil(span / 6))
            decades = [e for e in range(math.ceil(self.low), math.floor(self.high) + 1) if e % step == 0]
            if len(decades) >= 2:
                return [(self.place(10.0**e), power_of_ten(e)) for e in decades]
            values = [m * 10.0**e for e in range(math.floor(self.low), math.ceil(self.high) + 1) for m in (1, 2, 5)]
        else:
            raw = span / 5
            unit = 10 ** math.floor(math.log10(raw))
            step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= raw)
            values = [i * step for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        return [(self.place(v), number(v)) for v in values if self.low <= self.scaled(v) <= self.high]


def shown_points(curve, plot):
    """The points that the axes can show: finite, and positive where an axis is logarithmic."""
    for x, y in zip(map(float, curve["x"]), map(float, curve["y"])):
        if math.isfinite(x) and math.isfinite(y) and not (plot["log_x"] and x <= 0) and not (plot["log_y"] and y <= 0):
            yield x, y


def drawn_curve(curve, color, points, x_axis, y_axis):
    places = [(x_axis.place(x), y_axis.place(y)) for x, y in points]
    parts = []
    if not curve["points"] and len(places) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dashes = ' stroke-dasharray="6 4"' if curve["predicted"] else ""
        parts.append(f'<polyline points="{path}" class="line {color}"{dashes}/>')
    if curve["points"] or (not curve["predicted"] and len(places) <= 14):
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 if curve["points"] else 2.6}" class="dot {color}"/>'
                  for x, y in places]
    return "".join(parts)


def colors_of(curves):
    """Predicted curves take the color of the measured one that follows, if they come in pairs; else ink."""
    measured = iter(f"c{i % 9}" for i in range(99))
    return ["ink" if curve["predicted"] else next(measured) for curve in curves]


def plot_svg(plot):
    points = [list(shown_points(curve, plot)) for curve in plot["curves"]]
    measured = [p for curve, ps in zip(plot["curves"], points) for p in ps]
    x_axis = Axis([x for x, _ in measured], plot["log_x"], LEFT, WIDTH - RIGHT)
    y_axis = Axis([y for _, y in measured], plot["log_y"], HEIGHT - BOTTOM, TOP)
    parts = []
    for place, text in y_axis.ticks():
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{place + 4:.1f}" class="tick" text-anchor="end">{text}</text>')
    for place, text in x_axis.ticks():
        parts.append(f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" class="grid"/>')
        parts.append(f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 17}" class="tick" text-anchor="middle">{text}</text>')
    colors = colors_of(plot["curves"])
    order = sorted(range(len(points)), key=lambda i: plot["curves"][i]["points"])  # points over lines
    parts += [drawn_curve(plot["curves"][i], colors[i], points[i], x_axis, y_axis) for i in order]
    label = html.escape(plot["x_label"])
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" class="axis" text-anchor="middle">{label}</text>')
    title = html.escape(f'{plot["title"]}: {plot["y_label"]} over {plot["x_label"]}')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">{"".join(parts)}</svg>'


def legend(plot):
    items = []
    for curve, color in zip(plot["curves"], colors_of(plot["curves"])):
        dashes = ' stroke-dasharray="5 3"' if curve["predicted"] else ""
        mark = (f'<circle cx="11" cy="6" r="4" class="dot {color}"/>' if curve["points"] else
                f'<line x1="0" x2="22" y1="6" y2="6" class="line {color}"{dashes}/>')
        name = formula(curve["name"]) + (" (predicted)" if curve["predicted"] else "")
        items.append(f'<li><svg width="22" height="12" aria-hidden="true">{mark}</svg>{name}</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def plot_figure(plot):
    return (f'<figure><figcaption><b>{html.escape(plot["title"])}</b><span>{formula(plot["y_label"])}</span>'
            f'</figcaption>{legend(plot)}{plot_svg(plot)}</figure>')


# Every eighth color of viridis, from dark to light.
VIRIDIS = [(68, 1, 84), (70, 50, 127), (54, 92, 141), (39, 127, 142), (31, 161, 135), (74, 194, 109), (160, 218, 57),
           (253, 231, 37)]


def viridis(share):
    place = min(max(share, 0), 1) * (len(VIRIDIS) - 1)
    i = min(int(place), len(VIRIDIS) - 2)
    return "#" + "".join(f"{round(a + (b - a) * (place - i)):02x}" for a, b in zip(VIRIDIS[i], VIRIDIS[i + 1]))


def picture_figure(picture):
    """Weights as squares, colored by their square roots; what causality hides is left out."""
    rows = picture["rows"]
    size = 9
    cells = "".join(
        f'<rect x="{30 + c * size}" y="{4 + r * size}" width="{size}" height="{size}" fill="{viridis(math.sqrt(value))}"/>'
        for r, row in enumerate(rows) for c, value in enumerate(row) if c <= r)
    side = size * len(rows)
    labels = (f'<text x="{30 + side / 2}" y="{side + 24}" class="axis" text-anchor="middle">{html.escape(picture["x_label"])}'
              f' (oldest left)</text><text x="14" y="{side / 2}" class="axis" text-anchor="middle" '
              f'transform="rotate(-90 14 {side / 2})">{html.escape(picture["y_label"])}</text>')
    title = html.escape(picture["title"])
    scale = "".join(f'<i style="background:{viridis(math.sqrt(v))}"></i>{number(v)}&ensp;' for v in (0, 0.1, 0.5, 1))
    return (f'<figure><figcaption><b>{title}</b><span>attention weight: <span class="scale">{scale}</span></span>'
            f'</figcaption><svg viewBox="0 0 {side + 40} {side + 30}" class="picture" role="img" aria-label="{title}">'
            f'{cells}{labels}</svg></figure>')
