# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

"""Pictures as plain SVG. Blue is shorter than doing nothing, red is longer."""
import html
import math

STYLE = ('<style>text{font:11px sans-serif;fill:#333}.s{font-size:10px}.w{fill:#fff}'
         'line{stroke:#bbb}.z{stroke:#333}</style>')


def _svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">{STYLE}<rect width="{width}" height="{height}" fill="#fff"/>'
            + "".join(parts) + "</svg>\n")


def _text(x, y, what, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{html.escape(what)}</text>'


def color(change):
    """Full color at half the time or less, and at twice the time or more."""
    strength = min(1.0, abs(math.log1p(max(change, -0.99))) / math.log(2))
    pale = [247, 247, 247]
    full = [33, 102, 172] if change < 0 else [178, 24, 43]
    return "#" + "".join(f"{round(p + (f - p) * strength):02x}" for p, f in zip(pale, full))


def heat_map(rows, columns, value):
    """`value(row, column)` is a change, or None."""
    left, top, w, h = 180, 90, 66, 22
    parts = []
    for c, column in enumerate(columns):
        x = left + (c + 0.5) * w
        parts.append(f'<text x="{x}" y="{top - 8}" transform="rotate(-35 {x} {top - 8})">{html.escape(column)}</text>')
    for r, row in enumerate(rows):
        y = top + r * h
        parts.append(_text(left - 8, y + 15, row, "end"))
        for c, column in enumerate(columns):
            change = value(row, column)
            if change is None:
                continue
            dark = abs(change) > 0.3
            parts.append(f'<rect x="{left + c * w}" y="{y}" width="{w - 1}" height="{h - 1}" fill="{color(change)}"/>')
            parts.append(_text(left + (c + 0.5) * w, y + 15, f"{100 * change:+.1f}", "middle", "w" if dark else ""))
    return _svg(left + len(columns) * w + 60, top + len(rows) * h + 10, parts)


def ladder(entries, title):
    """One line per scenario: `(name, (point, low, high), best rival or None, yardstick or None)`, all changes."""
    left, top, w, h = 250, 46, 560, 14
    low, high = math.log(0.2), math.log(2.5)

    def x(change):
        return left + w * (min(max(math.log1p(max(change, -0.95)), low), high) - low) / (high - low)

    bottom = top + len(entries) * h
    parts = [_text(10, 18, title)]
    for mark in (-0.75, -0.5, -0.3, -0.15, 0, 0.15, 0.4, 1):
        kind = ' class="z"' if mark == 0 else ""
        parts.append(f'<line x1="{x(mark):.1f}" y1="{top - 6}" x2="{x(mark):.1f}" y2="{bottom}"{kind}/>')
        parts.append(_text(x(mark), top - 10, f"{100 * mark:+.0f} %", "middle", "s"))
    for i, (name, (point, least, most), rival, yardstick) in enumerate(entries):
        y = top + (i + 0.5) * h
        parts.append(_text(left - 8, y + 4, name, "end", "s"))
        if yardstick is not None:
            parts.append(f'<path d="M{x(yardstick):.1f} {y - 4}v8" stroke="#1a9850" stroke-width="2"/>')
        if rival is not None:
            parts.append(f'<circle cx="{x(rival):.1f}" cy="{y}" r="3" fill="none" stroke="#777"/>')
        ink = "#2166ac" if point <= 0 else "#b2182b"
        parts.append(f'<path d="M{x(least):.1f} {y}H{x(most):.1f}" stroke="{ink}" stroke-width="1.5"/>')
        parts.append(f'<circle cx="{x(point):.1f}" cy="{y}" r="3.5" fill="{ink}"/>')
    return _svg(left + w + 30, bottom + 12, parts)
