# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Small SVG charts: our number with its interval, the paper's as a hollow mark."""
import html
import math

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 900, 64, 16, 16, 52
LETTERS = {"memory": "M", "cpu": "C", "healthy": ""}  # of a machine's fault, for eyes and paper without colors


def text(value, percent=False):
    if math.isnan(value):
        return "–"
    value = 0.0 if abs(value) < 1e-9 else value
    if percent:
        if abs(value) < 0.0005:
            return "0 %"
        return f"{100 * value:.1f} %" if abs(value) < 0.0995 else f"{100 * value:.0f} %"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def steps(low, high):
    span = high - low
    step = 10 ** math.floor(math.log10(span / 5)) if span > 0 else 1
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= 6:
            step *= factor
            break
    at = math.ceil(low / step) * step
    while at <= high + step / 1e6:
        yield at
        at += step


def frame(height, low, high, percent):
    bottom = height - BOTTOM
    scale = lambda v: bottom - (min(max(v, low), high) - low) / (high - low) * (bottom - TOP)
    lines = "".join(
        f"<line class=grid x1={LEFT} x2={WIDTH - RIGHT} y1={scale(v):.1f} y2={scale(v):.1f} />"
        f"<text x={LEFT - 8} y={scale(v) + 4:.1f} text-anchor=end>{text(v + 0.0, percent)}</text>" for v in steps(low, high))
    return scale, lines


def figure(height, body, caption, key=""):
    return (f"<figure class=plot><figcaption>{caption}</figcaption>{key}"
            f"<svg viewBox='0 0 {WIDTH} {height}' role=img aria-label='{html.escape(caption, quote=True)}'>{body}</svg></figure>")


def legend(series, paper=True):
    items = "".join(f"<span class=s{i % 7}>{html.escape(s)}</span>" for i, s in enumerate(series))
    return f"<p class=key>from left to right: {items}{'<span class=hollow>the paper</span>' if paper else ''}</p>"


def points(rows, caption, percent=False, low=None, high=None):
    """For each x the series side by side: median, interval, and the paper's number."""
    rows = [r for r in rows if not math.isnan(r["median"])]
    columns = list(dict.fromkeys(r["x"] for r in rows))
    series = list(dict.fromkeys(r["series"] for r in rows))
    values = [v for r in rows for v in (r["low"], r["high"], r["paper"]) if not math.isnan(v)]
    low = min(values + [0]) if low is None else low
    high = max(values + [1e-9]) * 1.05 if high is None else high
    height = 320
    scale, body = frame(height, low, high, percent)
    room = (WIDTH - LEFT - RIGHT) / len(columns)
    gap = min(34, 0.8 * room / len(series))
    for k, name in enumerate(columns):
        middle = LEFT + room * (k + 0.5)
        body += f"<text x={middle:.1f} y={height - BOTTOM + 22} text-anchor=middle>{html.escape(name)}</text>"
        for r in rows:
            if r["x"] != name:
                continue
            i = series.index(r["series"])
            x = middle + (i - (len(series) - 1) / 2) * gap
            told = f"{r['series']}: {text(r['median'], percent)} ({text(r['low'], percent)} … {text(r['high'], percent)})"
            body += (f"<g class=s{i % 7}><title>{html.escape(told)}</title>"
                     f"<line class=interval x1={x:.1f} x2={x:.1f} y1={scale(r['low']):.1f} y2={scale(r['high']):.1f} />"
                     f"<circle cx={x:.1f} cy={scale(r['median']):.1f} r=5.5 />")
            if not math.isnan(r["paper"]):
                body += f"<rect class=hollow x={x - 5.5:.1f} y={scale(r['paper']) - 5.5:.1f} width=11 height=11 />"
            body += "</g>"
    if low < 0 < high:
        body += f"<line class=usual x1={LEFT} x2={WIDTH - RIGHT} y1={scale(0):.1f} y2={scale(0):.1f} />"
    paper = any(not math.isnan(r["paper"]) for r in rows)
    return figure(height, body, caption, legend(series, paper))


def boxes(rows, caption):
    """A box for each machine: quartiles and the middle 90 %, colored and lettered by its fault."""
    machines = {}
    for r in rows:
        machines.setdefault(r["series"], {})[r["x"]] = r["median"]
    values = [v for m in machines.values() for v in m.values() if not math.isnan(v)]
    if not values:
        return ""
    height = 280
    scale, body = frame(height, min(values) - 0.1, max(values) + 0.1, False)
    room = (WIDTH - LEFT - RIGHT) / len(machines)
    for k, (name, m) in enumerate(machines.items()):
        machine, kind = name.split(" ")
        x, half = LEFT + room * (k + 0.5), min(9, room * 0.35)
        body += (f"<g class='box {kind}'><title>{html.escape(name)}</title>"
                 f"<line class=interval x1={x:.1f} x2={x:.1f} y1={scale(m['5']):.1f} y2={scale(m['95']):.1f} />"
                 f"<rect x={x - half:.1f} width={2 * half:.1f} y={scale(m['75']):.1f} height={max(1, scale(m['25']) - scale(m['75'])):.1f} />"
                 f"<line class=median x1={x - half:.1f} x2={x + half:.1f} y1={scale(m['50']):.1f} y2={scale(m['50']):.1f} /></g>"
                 f"<text x={x:.1f} y={height - BOTTOM + 20} text-anchor=middle>{machine[4:]}</text>"
                 f"<text x={x:.1f} y={height - BOTTOM + 36} text-anchor=middle>{LETTERS[kind]}</text>")
    key = ("<p class=key><span class='box memory'>M: memory fault</span><span class='box cpu'>C: CPU fault</span>"
           "<span class='box healthy'>healthy</span></p>")
    return figure(height, body, caption, key)
