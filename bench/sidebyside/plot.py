"""A line chart as SVG text: one x axis (logarithmic, or linear), one y axis (from zero, or logarithmic), a few named lines. Nothing else."""

from math import ceil, floor, log10

INNER, HEIGHT = 320, 300
LEFT, TOP, BOTTOM = 70, 34, 44
LETTER = 6
COLOURS = ["#2563eb", "#d97706", "#059669", "#be123c", "#7c3aed", "#0e7490", "#713f12", "#525252"]


def short(value):
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def nice_top(value):
    """The smallest round number that is not below the value."""
    step = 10 ** int(log10(value)) if value > 0 else 1
    for factor in (0.2, 0.5, 1, 1.5, 2, 3, 5, 8, 10):
        if factor * step >= value:
            return factor * step
    return 10 * step


def chart(title, x_title, y_title, lines, linear=False, decades=False):
    """`lines`: name -> list of (x, y), x > 0. A linear x axis has five numbers, a logarithmic one all that there are. With `decades` the
    y axis is logarithmic."""
    xs = sorted({x for points in lines.values() for x, _ in points})
    top = nice_top(max(y for points in lines.values() for _, y in points))
    scale = (lambda x: x) if linear else log10
    low, high = (0, xs[-1]) if linear else (log10(xs[0]), log10(xs[-1]))
    marks = [xs[-1] * part / 4 for part in range(5)] if linear else xs
    inner_w, inner_h = INNER, HEIGHT - TOP - BOTTOM
    width = LEFT + inner_w + 20 + LETTER * max(map(len, lines))
    ys = [y for points in lines.values() for _, y in points]
    bottom, ceiling = (floor(log10(min(ys))), ceil(log10(max(ys)))) if decades else (0, top)

    def at(x, y):
        along = (scale(x) - low) / (high - low) if high > low else 0.5
        up = ((log10(y) if decades else y) - bottom) / (ceiling - bottom)
        return LEFT + along * inner_w, TOP + inner_h * (1 - up)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>',
           f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold">{title}</text>']
    for value in [10 ** n for n in range(bottom, ceiling + 1)] if decades else [top * part / 4 for part in range(5)]:
        _, y = at(xs[0], value)
        out.append(f'<line x1="{LEFT}" x2="{LEFT + inner_w}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(value)}</text>')
    for x in marks:
        along, _ = at(x, top)
        out.append(f'<text x="{along:.1f}" y="{TOP + inner_h + 16}" text-anchor="middle">{short(x)}</text>')
    out.append(f'<text x="{LEFT + inner_w / 2}" y="{HEIGHT - 8}" text-anchor="middle">{x_title}</text>')
    out.append(f'<text x="14" y="{TOP + inner_h / 2}" text-anchor="middle" transform="rotate(-90 14 {TOP + inner_h / 2})">{y_title}</text>')
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [at(x, y) for x, y in sorted(points)]
        out.append('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (colour, " ".join(f"{x:.1f},{y:.1f}" for x, y in places)))
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        out.append(f'<text x="{LEFT + inner_w + 10}" y="{TOP + 14 + 16 * number}" fill="{colour}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"
