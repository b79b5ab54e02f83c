"""The report's pictures, as SVG: the timeline of the run and the histograms of recovery times. Colours come from the style sheet."""
import collections
import html
import math

WIDTH, LEFT, RIGHT = 1120, 92, 14
KINDS = {  # Fault kinds in the order of their lanes, with their colours.
    "kill": "--c0", "stop": "--c1", "cont": "--c4", "terminate": "--c7", "pg_crash": "--c2", "pg_stop": "--c2", "pg_up": "--c4", "failover": "--c5", "cut": "--c3",
    "reset": "--c3", "stall": "--c3", "half_open": "--c3", "refuse": "--c3", "delay": "--c6", "drop": "--c3", "error": "--c6", "disk_full": "--c7",
    "disk_free": "--c4", "heal": "--c4", "clock": "--c6", "terminate_backends": "--c2", "http": "--c7",
}
QUIET = frozenset(("start", "reported_loss", "over_limit"))
GROUP_COLOURS = {"killed": "--c0", "supervised": "--c3", "stopped": "--c1", "cut": "--c2", "outage": "--c6"}


def escape(text):
    return html.escape(str(text), quote=True)


def nice_step(span, wanted):
    """A round step that makes about so many of them."""
    raw = max(span, 1e-9) / wanted
    power = 10 ** math.floor(math.log10(raw))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= raw)


def amount(value):
    """12, 3.5 k, 1.2 M."""
    for size, unit in ((1e6, " M"), (1e4, " k")):
        if value >= size:
            return f"{value / (size if unit == ' M' else 1e3):.1f}".rstrip("0").rstrip(".") + unit
    return f"{value:,.0f}".replace(",", " ") if value == int(value) else f"{value:g}"


def time_marks(length):
    """(seconds, label) for a time axis; in minutes where seconds would be long numbers."""
    if length < 150:
        step = nice_step(length, 10)
        return [(n * step, f"{n * step:g} s") for n in range(int(length / step) + 1)]
    step = next((s for s in (15, 30, 60, 120, 300, 600, 900, 1800) if length / s <= 12), 3600)
    return [(n * step, f"{n * step // 60}:{n * step % 60:02d}") for n in range(int(length / step) + 1)]


class Timeline:
    """Panels under one time axis: what was settled, what waited, what was broken, how fast it came back."""

    def __init__(self, data, recovery):
        self.data, self.recovery = data, recovery
        self.seconds = max(data["seconds"], 0.001)
        self.parts, self.y = [], 54

    def x(self, seconds):
        return LEFT + (WIDTH - LEFT - RIGHT) * min(max(seconds / self.seconds, 0), 1)

    def svg(self):
        lanes = fault_lanes(self.data["faults"])
        self.throughput(118)
        self.backlog(72)
        self.faults(lanes)
        if any(group["samples"] for group in self.recovery.values()):
            self.recoveries(110)
        bottom = self.y - 28
        back = [*self.background(bottom), *self.axis(bottom)]
        height = bottom + 26
        return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Timeline of the run">' + "".join(back + self.parts) + "</svg>")

    def background(self, bottom):
        for begin, end in self.data["down"]:
            yield (f'<rect x="{self.x(begin):.1f}" y="34" width="{max(1.5, self.x(end) - self.x(begin)):.1f}" height="{bottom - 34}" fill="var(--down)">'
                   f"<title>the database could not be reached, {begin:.2f} s to {end:.2f} s</title></rect>")
        taken = [0.0, 0.0]  # Where the labels of the two rows end.
        for at, name in self.data["phases"]:
            x, wide = self.x(at), 7 * len(name) + 8
            begin = min(x + 4, WIDTH - wide)
            row = next((n for n in (0, 1) if taken[n] < begin), None)
            yield f'<line class="phase" x1="{x:.1f}" x2="{x:.1f}" y1="{22 if row is None else 18 - 14 * row}" y2="{bottom}"/>'
            if row is not None:
                taken[row] = begin + wide
                yield f'<text x="{begin:.1f}" y="{28 - 14 * row}">{escape(name)}</text>'

    def axis(self, bottom):
        for seconds, label in time_marks(self.seconds):
            x = self.x(seconds)
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="34" y2="{bottom}"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>'

    def panel(self, height, title, note, top_value, unit=""):
        """Frame and scale; returns a function from values to heights."""
        self.title(title, note)
        base = self.y + height
        step = nice_step(top_value, 3)
        for n in range(int(top_value / step) + 1):
            y = base - (height - 8) * n * step / top_value
            self.parts.append(f'<line class="{"axis" if n == 0 else "grid"}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                              f'<text class="small" x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{amount(n * step)}{unit}</text>')
        self.y = base + 34
        return lambda value: base - (height - 8) * min(value / top_value, 1)

    def title(self, title, note=""):
        self.parts.append(f'<text class="title" x="0" y="{self.y - 4}">{escape(title)} <tspan class="aside">{escape(note)}</tspan></text>')

    def steps(self, values, y, base_value=0.0):
        """The outline of a step curve, closed down to the base."""
        width = self.data["width"]
        points = []
        for n, value in enumerate(values):
            height = f"{y(value):.1f}"
            points += [f"{self.x(n * width):.1f},{height}", f"{self.x((n + 1) * width):.1f},{height}"]
        return points, [f"{self.x(0):.1f},{y(base_value):.1f}", *points, f"{self.x(self.seconds):.1f},{y(base_value):.1f}"]

    def throughput(self, height):
        width = self.data["width"]
        good = [n / width for n in self.data["ok"]]
        other = [n / width for n in self.data["other"]]
        y = self.panel(height, "Settlements", "in a second", max([*good, *other, 1]) * 1.08)
        line, area = self.steps(good, y)
        self.parts.append(f'<polygon points="{" ".join(area)}" fill="var(--ok-fill)"/>'
                          f'<polyline points="{" ".join(line)}" fill="none" stroke="var(--ok)" stroke-width="1.4"/>')
        if any(other):
            line, _ = self.steps(other, y)
            self.parts.append(f'<polyline points="{" ".join(line)}" fill="none" stroke="var(--other)" stroke-width="1.2"/>')
        for n, count in enumerate(self.data["refused"]):
            if count:
                self.parts.append(f'<circle cx="{self.x((n + .5) * width):.1f}" cy="{y(0) - 5:.1f}" r="{min(6, 2 + math.sqrt(count)):.1f}" fill="var(--refused)" '
                                  f'fill-opacity=".75"><title>{count} stale settlements refused</title></circle>')

    def backlog(self, height):
        y = self.panel(height, "Backlog", "jobs that live", max([*self.data["backlog"], 1]) * 1.08)
        line, area = self.steps(self.data["backlog"], y)
        self.parts.append(f'<polygon points="{" ".join(area)}" fill="var(--backlog-fill)"/>'
                          f'<polyline points="{" ".join(line)}" fill="none" stroke="var(--backlog)" stroke-width="1.4"/>')

    def faults(self, lanes):
        self.title("Faults", "" if lanes else "none")
        for kind, marks in lanes:
            self.y += 17
            middle = self.y - 4
            self.parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{middle}" y2="{middle}"/>'
                              f'<text x="{LEFT - 9}" y="{self.y}" text-anchor="end">{escape(kind.replace("_", " "))} '
                              f'<tspan class="small">{len(marks)}</tspan></text>')
            for x, count, told in merge_marks([(self.x(t), what, t) for t, what in marks]):
                self.parts.append(f'<rect x="{x - 1.4:.1f}" y="{middle - 6}" width="2.8" height="12" rx="1.2" fill="var({KINDS.get(kind, "--c6")})" '
                                  f'fill-opacity="{min(1, .55 + .12 * count):.2f}"><title>{escape(told)}</title></rect>')
        self.y += 36

    def recoveries(self, height):
        values = [s[1] for g in self.recovery.values() for s in g["samples"]]
        bars = sorted({g["bar"] for g in self.recovery.values()})
        y = self.panel(height, "Recoveries", "from the fault to the next holder", max([*values, *bars]) * 1.1, " s")
        for bar in bars:
            self.parts.append(f'<line class="bar" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(bar):.1f}" y2="{y(bar):.1f}"/>'
                              f'<text class="small" x="{WIDTH - RIGHT - 2}" y="{y(bar) - 4:.1f}" text-anchor="end">bar {bar:g} s</text>')
        for name, group in self.recovery.items():
            # The leases of one process come back together: one point, larger.
            points = collections.defaultdict(list)
            for t, seconds in group["samples"]:
                points[round(self.x(t) / 2), round(y(seconds) / 3)].append((t, seconds))
            for same in points.values():
                t, seconds = same[0]
                self.parts.append(f'<circle cx="{self.x(t):.1f}" cy="{y(seconds):.1f}" r="{min(7, 1.7 + .9 * math.sqrt(len(same))):.1f}" fill="var({GROUP_COLOURS[name]})" '
                                  f'fill-opacity=".6"><title>{len(same)} × {escape(group["label"])} at {t:.2f} s, back after {seconds:.3f} s</title></circle>')


def fault_lanes(faults):
    lanes = {}
    for kind, marks in faults.items():
        if kind not in QUIET:
            lanes.setdefault("http" if kind.startswith("http") else kind, []).extend(marks)
    order = list(KINDS)
    return sorted(lanes.items(), key=lambda lane: order.index(lane[0]) if lane[0] in order else len(order))


def merge_marks(marks):
    """Marks that would cover each other become one, stronger."""
    merged = []
    for x, what, t in sorted(marks):
        if merged and x - merged[-1][0] < 2.2:
            merged[-1][1] += 1
            merged[-1][2] = f"{merged[-1][1]} from {merged[-1][3]:.2f} s to {t:.2f} s"
        else:
            merged.append([x, 1, f"{what} at {t:.2f} s".strip(), t])
    return [mark[:3] for mark in merged]


def histogram(group, colour, width=360, height=146):
    """Counts over recovery time; the bar, the median and the 99th percentile are lines."""
    values = [s[1] for s in group["samples"]]
    top = max(group["bar"] * 1.12, group["max"] * 1.05)
    bins = 32
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, max(0, int(value / top * bins)))] += 1
    most, left, bottom = max(counts), 8, height - 34

    def x(seconds):
        return left + (width - 2 * left) * seconds / top

    parts = []
    step = nice_step(top, 5)
    for n in range(int(top / step) + 1):
        parts.append(f'<line class="grid" x1="{x(n * step):.1f}" x2="{x(n * step):.1f}" y1="14" y2="{bottom}"/>'
                     f'<text class="small" x="{x(n * step):.1f}" y="{bottom + 18}" text-anchor="middle">{n * step:g} s</text>')
    bar_width = (width - 2 * left) / bins
    for n, count in enumerate(counts):
        if count:
            tall = max(1.5, (bottom - 20) * count / most)
            parts.append(f'<rect x="{left + n * bar_width + .6:.1f}" y="{bottom - tall:.1f}" width="{bar_width - 1.2:.1f}" height="{tall:.1f}" rx="1.5" '
                         f'fill="var({colour})" fill-opacity=".8"><title>{count} between {n * top / bins:.3f} s and {(n + 1) * top / bins:.3f} s</title></rect>')
    parts.append(f'<line class="axis" x1="{left}" x2="{width - left}" y1="{bottom}" y2="{bottom}"/>')
    parts.append(f'<line class="bar" x1="{x(group["bar"]):.1f}" x2="{x(group["bar"]):.1f}" y1="12" y2="{bottom}"/>'
                 f'<text class="small" x="{x(group["bar"]) - 4:.1f}" y="10" text-anchor="end">bar {group["bar"]:g} s</text>')
    for name in ("p50", "p99"):
        at = x(group[name])
        parts.append(f'<path d="M{at:.1f} {bottom + 1} l-4 6 h8 z" fill="var(--ink)"><title>{name} {group[name]:.3f} s</title></path>')
    return f'<svg viewBox="0 0 {width} {height - 14}" role="img" aria-label="{escape(group["label"])}">' + "".join(parts) + "</svg>"
