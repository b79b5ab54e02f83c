"""write_report: one HTML file about one run, readable by a person who was not there. It needs nothing but itself."""
import pathlib
import re

from .report_charts import GROUP_COLOURS, Timeline, amount, escape, histogram
from .report_style import STYLE
from .verdict import CATEGORIES

NAME = "report.html"
OPEN_STORIES = 3


def write_report(directory, verdict):
    """Writes report.html into the run's directory and returns its path."""
    path = pathlib.Path(directory) / NAME
    path.write_text(render(verdict), encoding="utf-8")
    return path


def render(verdict):
    parts = [headline(verdict), checks(verdict), timeline(verdict), recovery(verdict), violations(verdict), points(verdict), conditions(verdict), footer(verdict)]
    # A reader whose run failed wants to know how before anything else.
    if verdict.violations:
        parts[1:5] = [parts[4], parts[1], parts[2], parts[3]]
    run = verdict.run
    title = f"Chaos run {run.get('name') or run.get('profile') or ''} {run.get('seed', '')}".strip()
    return ("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
            f"<title>{escape(title)}: {'ok' if verdict.ok else 'violated'}</title><style>{STYLE}</style></head>\n<body><main>\n"
            + "\n".join(part for part in parts if part) + "\n</main></body></html>\n")


def plural(count, noun):
    words = noun.split(" ", 1)
    return f"{amount(count)} {noun if count == 1 else words[0] + 's' + (' ' + words[1] if len(words) > 1 else '')}"


def grouped(text):
    """Long numbers in groups of three."""
    return re.sub(r"(?<![\w.])\d{5,}\b", lambda number: f"{int(number[0]):,}".replace(",", "\u202f"), text)


def headline(verdict):
    f, run = verdict.figures, verdict.run
    jobs = plural(f.get("jobs", 0), "job")
    struck = plural(f.get("faults", 0), "fault")
    if verdict.ok:
        sentence = f"{jobs}, {struck}, every promise held"
    else:
        broken = ", ".join(f"{n}\u00a0{name}".replace(" ", "\u00a0") for name, n in verdict.counts.items()) or "a check failed"
        sentence = f"{jobs}, {struck}: {broken}"
    facts = [("seed", run.get("seed")), ("profile", run.get("profile")), ("lasted", f"{f.get('seconds', 0):.0f} s"),
             ("lease", f"{run.get('lease_ms', 0) / 1000:g} s"), ("began", run.get("started_at"))]
    sub = " · ".join(f"{name} {escape(value)}" for name, value in facts if value not in (None, ""))
    tiles = [("deliveries", f.get("deliveries")), ("processes killed", f.get("kills")), ("paused", f.get("stops")), ("leases lost to faults", f.get("lost_leases", 0) - f.get("lost_without_fault", 0)),
             ("calls of unknown fate", f.get("unknown_calls")), ("outcomes recovered", verdict.tally.get("recovered")), ("stale settlements refused", f.get("stale_refused")),
             ("effects counted", (f.get("ledger_rows") or 0) + (f.get("http_requests") or 0))]
    shown = "".join(f"<div><b>{amount(n)}</b><span>{escape(name)}</span></div>" for name, n in tiles if n is not None)
    word = "ALL PROMISES HELD" if verdict.ok else "PROMISES BROKEN"
    name = f"<p class=\"sub\">{escape(run['name'])}</p>" if run.get("name") else ""
    return (f'<header class="verdict{"" if verdict.ok else " bad"}"><span class="word">{word}</span><h1>{escape(sentence)}</h1>{name}'
            f'<p class="sub">{sub}</p><div class="figures">{shown}</div></header>')


def checks(verdict):
    rows = "".join(f'<tr><td class="{"yes" if c.good else "no"} tight">{"✓ held" if c.good else "✗ broken"}</td><td class="tight dim">{escape(c.promise)}</td>'
                   f"<td>{escape(c.name)}</td><td>{grouped(escape(c.figure))}</td></tr>" for c in verdict.checks)
    return ("<section><h2>What was checked</h2><p class=\"note\">From what every process wrote down, what the database holds, and ledgers that the engine never reads.</p>"
            f"<table><tr><th></th><th>Promise</th><th>Claim</th><th>Figures</th></tr>{rows}</table></section>")


def timeline(verdict):
    if not verdict.timeline:
        return ""
    legend = [("--ok", "settled ok"), ("--other", "retried, failed or sent back"), ("--refused", "stale settlements refused"), ("--down", "database out of reach")]
    legend += [(GROUP_COLOURS[name], group["label"]) for name, group in verdict.recovery.items()]
    items = "".join(f'<span><i style="background:var({colour})"></i>{escape(name)}</span>' for colour, name in legend)
    return ("<section><h2>The run</h2><p class=\"note\">Faults above, what they cost below: each point at the bottom is one job whose holder went away, at the height of the time "
            f"until somebody had it again.</p>{Timeline(verdict.timeline, verdict.recovery).svg()}<div class=\"legend\">{items}</div></section>")


def recovery(verdict):
    if not verdict.recovery:
        return ""
    charts = []
    for name, group in verdict.recovery.items():
        good = group["p99"] <= group["bar"]
        excused = f", {group['excused']} with an outage taken off" if group["excused"] else ""
        charts.append(f'<div><div class="head"><b>{escape(group["label"])}</b></div>{histogram(group, GROUP_COLOURS[name])}'
                      f'<p class="note">{amount(group["count"])} leases{excused}: median <b>{group["p50"]:.3f}&nbsp;s</b>, 99&nbsp;% within <b class="{"yes" if good else "no"}">{group["p99"]:.3f}&nbsp;s</b>, '
                      f'longest {group["max"]:.3f}&nbsp;s</p></div>')
    return ("<section><h2>How fast work came back</h2><p class=\"note\">From the moment the holder was gone until the job was handed out again. Triangles: median and 99th percentile.</p>"
            f"<div class=\"histograms\">{''.join(charts)}</div></section>")


def violations(verdict):
    if not verdict.violations:
        return ""
    cards = []
    for n, violation in enumerate(verdict.violations):
        story = "\n".join(story_line(line) for line in violation.story) or "(no lines)"
        cards.append(f'<details{" open" if n < OPEN_STORIES else ""}><summary><span class="chip">{escape(violation.category)}</span><span class="what">{escape(violation.detail)}</span>'
                     f'<span class="id mono">{escape(violation.promise)} · {escape(violation.subject)}</span></summary><pre>{story}</pre></details>')
    total = verdict.total()
    note = "".join(f"<dt>{escape(name)}</dt><dd>{amount(n)}: {escape(CATEGORIES[name])}</dd>" for name, n in verdict.counts.items())
    more = f'<p class="note" style="margin-top:12px">{total - len(verdict.violations)} more of the same categories are counted but not told.</p>' if total > len(verdict.violations) else ""
    return f'<section><h2>What went wrong</h2><dl class="facts">{note}</dl>{"".join(cards)}{more}</section>'


def story_line(line):
    text = escape(line)
    cut = text.find(" s  ")
    if 0 < cut < 16:
        text = f'<span class="t">{text[:cut + 2]}</span>{text[cut + 2:]}'
    if "FAULT" in line:
        return f'<span class="fault">{text}</span>'
    return f'<span class="db">{text}</span>' if "  database  " in line or "  ledger  " in line else text


def points(verdict):
    if not verdict.points:
        return ""
    rows = []
    for p in verdict.points:
        actions = ", ".join(f"{n} {name}" if n > 1 else str(name) for name, n in p["actions"].items())
        if p["violations"]:
            outcome = f'<span class="no">✗ {plural(p["violations"], "violation")}</span>'
        elif p["hit"]:
            outcome = '<span class="yes">✓ held</span>'
        else:
            outcome = '<span class="no">✗ never hit</span>' if p["wanted"] else '<span class="dim">not hit</span>'
        rows.append(f'<tr><td class="mono">{escape(p["point"])}</td><td class="n">{p["armed"] or ""}</td><td class="n">{p["hit"] or ""}</td><td>{escape(actions)}</td>'
                    f'<td class="n">{p["recovered"] or ""}</td><td class="tight">{outcome}</td></tr>')
    hit = sum(bool(p["hit"]) for p in verdict.points)
    return (f"<section><h2>Fault points</h2><p class=\"note\">{hit} of {plural(len(verdict.points), 'point')} hit. Recovered: leases that the struck processes held and others finished.</p>"
            '<div class="scroll"><table><tr><th>Point</th><th class="n">Armed</th><th class="n">Hit</th><th>Action</th><th class="n">Recovered</th><th>Outcome</th></tr>'
            f"{''.join(rows)}</table></div></section>")


def conditions(verdict):
    given = verdict.run.get("conditions") or {}
    facts = given.items() if isinstance(given, dict) else [("conditions", given)]
    rows = [*facts, ("history", f"{amount(verdict.figures.get('lines', 0))} lines of {verdict.figures.get('files', 0)} processes"),
            ("transitions on record", verdict.figures.get("transitions")), ("database out of reach", f"{verdict.figures.get('down_seconds', 0):g} s")]
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value if not isinstance(value, (list, dict)) else ', '.join(map(str, value)))}</dd>" for name, value in rows if value not in (None, ""))
    return f'<section><h2>Conditions</h2><dl class="facts" style="margin-top:8px">{shown}</dl></section>'


def footer(verdict):
    seed, profile = verdict.run.get("seed"), verdict.run.get("profile")
    again = verdict.run.get("command") or (f"make chaos PROFILE={profile} SEED={seed}" if seed is not None and profile else None)
    return f"<footer>{f'Again: <code>{escape(again)}</code> · ' if again else ''}violations.json and verdict.json lie beside this file.</footer>"
