"""The report's look: one style sheet for light and dark, no outside file."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2430; --soft: #5b6675; --faint: #8a94a3; --line: #e1e5ea; --grid: #eceff3;
  --good: #18794e; --good-bg: #e3f4ea; --bad: #c02b37; --bad-bg: #fdebec; --mark: #fff3cf;
  --ok: #3f7fd6; --ok-fill: #3f7fd633; --other: #c98a1b; --refused: #9a5bd0; --backlog: #55708f; --backlog-fill: #55708f2e; --down: #c02b371f;
  --c0: #d1434b; --c1: #d98a13; --c2: #8457c9; --c3: #2f86c8; --c4: #2a9d77; --c5: #c2508f; --c6: #6b7683; --c7: #a66b3a;
  --shadow: 0 1px 2px #1c243014, 0 4px 16px #1c24300d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --ink: #e6eaf0; --soft: #a3aebc; --faint: #76818f; --line: #2b333e; --grid: #242c36;
    --good: #58c78d; --good-bg: #17352a; --bad: #ff7f85; --bad-bg: #43222a; --mark: #4a3d17;
    --ok: #6ea8f2; --ok-fill: #6ea8f238; --other: #e5b04e; --refused: #c394f0; --backlog: #9db4cf; --backlog-fill: #9db4cf2b; --down: #ff7f8526;
    --c0: #f2777d; --c1: #e9ab47; --c2: #b08cf0; --c3: #6ab5ec; --c4: #58c7a0; --c5: #ea86bb; --c6: #9aa5b3; --c7: #d09a68;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0; letter-spacing: -0.01em; text-wrap: balance; }
h2 { font-size: 18px; margin: 0 0 4px; }
p { margin: 0; }
.note { color: var(--soft); font-size: 14px; margin-bottom: 12px; max-width: 112ch; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px; margin-top: 18px; box-shadow: var(--shadow); }
header.verdict { border-radius: 14px; padding: 26px 28px 22px; border: 1px solid var(--line); border-left: 8px solid var(--good); background: var(--card); box-shadow: var(--shadow); }
header.verdict.bad { border-left-color: var(--bad); }
header.verdict .word { display: inline-block; font-weight: 600; font-size: 13px; letter-spacing: .04em; padding: 2px 10px; border-radius: 99px; margin-bottom: 10px; background: var(--good-bg); color: var(--good); }
header.verdict.bad .word { background: var(--bad-bg); color: var(--bad); }
header.verdict .sub { color: var(--soft); margin-top: 6px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(104px, 1fr)); gap: 12px 18px; margin-top: 20px; }
.figures b { display: block; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.25; }
.figures span { color: var(--soft); font-size: 13px; line-height: 1.3; display: block; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 3px 18px; margin: 0; font-size: 14px; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: 13px; padding: 4px 14px 6px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; padding-right: 30px; }
td.tight { white-space: nowrap; }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12.5px; }
.yes { color: var(--good); font-weight: 600; } .no { color: var(--bad); font-weight: 600; } .dim { color: var(--faint); }
.scroll { max-height: 460px; overflow: auto; margin-right: -8px; padding-right: 8px; }
.scroll th { position: sticky; top: 0; background: var(--card); }
svg { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--soft); }
svg text.title { fill: var(--ink); font-weight: 600; font-size: 12.5px; }
svg text.title tspan.aside { font-weight: 400; fill: var(--soft); }
svg text.small, svg tspan.small { font-size: 11px; fill: var(--faint); }
svg .grid { stroke: var(--grid); stroke-width: 1; } svg .axis { stroke: var(--line); stroke-width: 1; }
svg .phase { stroke: var(--faint); stroke-dasharray: 2 4; stroke-width: 1; }
svg .bar { stroke: var(--bad); stroke-width: 1.4; stroke-dasharray: 6 4; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--soft); margin-top: 6px; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
.histograms { display: grid; grid-template-columns: repeat(auto-fill, minmax(320px, 1fr)); gap: 18px 28px; }
.histograms .head { display: flex; justify-content: space-between; gap: 12px; font-size: 14px; margin-bottom: 2px; }
.histograms .head span { color: var(--soft); font-size: 13px; }
details { border: 1px solid var(--line); border-radius: 10px; margin-top: 12px; overflow: hidden; }
summary { cursor: pointer; padding: 10px 14px; list-style: none; display: flex; gap: 12px; align-items: baseline; flex-wrap: wrap; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; color: var(--faint); } details[open] summary::before { content: "▾"; }
summary .chip { background: var(--bad-bg); color: var(--bad); border-radius: 99px; padding: 1px 10px; font-size: 13px; font-weight: 600; white-space: nowrap; }
summary .what { flex: 1 1 420px; }
summary .id { color: var(--faint); }
pre { margin: 0; padding: 12px 16px; background: var(--page); border-top: 1px solid var(--line); overflow-x: auto; line-height: 1.55; }
pre .fault { background: var(--mark); display: inline-block; min-width: 100%; }
pre .db { color: var(--soft); } pre .t { color: var(--faint); }
footer { color: var(--faint); font-size: 13px; margin-top: 22px; }
@media print { section, header.verdict { break-inside: avoid; box-shadow: none; } .scroll { max-height: none; } }
"""
