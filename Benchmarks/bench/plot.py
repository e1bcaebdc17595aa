"""A bar chart on a logarithmic scale as SVG, without a library."""

from html import escape
from math import log10

COLOURS = ["#d9480f", "#f59f00", "#1971c2", "#495057", "#2f9e44", "#9c36b5", "#0c8599"]
BAR, GAP, LEFT, WIDTH, TOP = 18, 16, 190, 560, 56


def chart(title, unit, groups, keys):
    """`groups`: [(name, {key: value or None})]; None is drawn as the word incomplete."""
    values = [v for _, row in groups for v in row.values() if v]
    values = values or [1]
    low, high = 10 ** int(log10(min(values))), max(values)
    scale = WIDTH / (log10(high / low) or 1)
    y, body = TOP, []
    for name, row in groups:
        shown = [key for key in keys if key in row]
        body.append(f'<text x="8" y="{y + 13}" font-weight="bold">{escape(name)}</text>')
        for key in shown:
            value, colour = row[key], COLOURS[keys.index(key) % len(COLOURS)]
            length = max(2, log10(value / low) * scale) if value else 0
            label = f"{value:,.0f} {unit}" if value else "incomplete"
            body.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 3}" fill="{colour}"/>'
                        f'<text x="{LEFT + length + 6:.1f}" y="{y + 12}">{label}</text>')
            y += BAR
        y += GAP
    ticks, tick = [], low
    while tick <= high:
        x = LEFT + log10(tick / low) * scale
        ticks.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{y}" stroke="#dee2e6"/>'
                     f'<text x="{x:.1f}" y="{TOP - 10}" text-anchor="middle" fill="#868e96">{tick:,.0f}</text>')
        tick *= 10
    legend, x = [], LEFT
    for number, key in enumerate(keys):
        legend.append(f'<rect x="{x}" y="{y + 4}" width="11" height="11" fill="{COLOURS[number % len(COLOURS)]}"/>'
                      f'<text x="{x + 15}" y="{y + 14}">{escape(key)}</text>')
        x += 28 + 7 * len(key)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{max(LEFT + WIDTH + 110, x)}" height="{y + 28}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
            f'<text x="8" y="22" font-size="15">{escape(title)}</text>'
            + "".join(ticks + body + legend) + "</svg>\n")
