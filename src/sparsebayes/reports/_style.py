"""The style sheet of a report: light, for screens of any width and for paper."""

STYLE = """
:root { color-scheme: light; --ink: #1f2933; --quiet: #5b6770; --line: #d9dfe4; --soft: #f5f7f9; --accent: #0072b2; }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: #fff; color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue",
  Arial, sans-serif; overflow-wrap: anywhere; }
.page { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 0.3rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 0.7rem; padding-bottom: 0.25rem; border-bottom: 2px solid var(--line);
  scroll-margin-top: 0.5rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.4rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
ul { margin: 0.5rem 0; padding-left: 1.3rem; max-width: 46rem; }
li { margin: 0.3rem 0; }
.lead { color: var(--quiet); margin-bottom: 1rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.6rem; margin: 1rem 0; }
.tiles div { background: var(--soft); border-radius: 6px; padding: 0.55rem 0.75rem; }
.tiles dt { color: var(--quiet); font-size: 0.8rem; }
.tiles dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
nav ol { display: flex; flex-wrap: wrap; gap: 0.1rem 1.4rem; margin: 0; padding: 0.6rem 0; list-style: none;
  border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
nav a { display: inline-block; padding: 0.15rem 0; }
a { color: var(--accent); }
.scroll { overflow-x: auto; max-width: 100%; margin: 0.6rem 0; overflow-wrap: normal; }
.scroll > table, .sparsebayes-summary table { font-size: 0.9rem; }
.scroll .sparsebayes-summary table { white-space: nowrap; }
.scroll > table { border-collapse: collapse; }
.scroll > table th, .scroll > table td { padding: 0.25rem 0.8rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
.scroll > table thead th { border-bottom: 2px solid var(--line); white-space: nowrap; }
.scroll > table tbody th { font-weight: 500; color: var(--quiet); }
.scroll > table .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.pictures { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: flex-end; margin: 0.8rem 0 0.2rem; }
figure { margin: 1rem 0 1.6rem; }
img { max-width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
.wide img { min-width: 44rem; }
figcaption { color: var(--quiet); font-size: 0.9rem; max-width: 46rem; }
pre { background: var(--soft); border-radius: 6px; padding: 0.7rem 0.9rem; overflow-x: auto; font-size: 0.85rem;
  line-height: 1.45; overflow-wrap: normal; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 0.92em; }
.note { border-left: 4px solid var(--accent); background: var(--soft); padding: 0.5rem 0.8rem; }
.warning { border-left: 4px solid #d55e00; background: #fdf3ec; padding: 0.5rem 0.8rem; }
footer { color: var(--quiet); font-size: 0.85rem; margin-top: 3rem; border-top: 1px solid var(--line); }
@media (max-width: 40rem) {
  .page { padding: 1rem 0.9rem 2rem; }
  h1 { font-size: 1.4rem; }
  nav ol { display: grid; grid-template-columns: 1fr 1fr; }
  nav a { padding: 0.35rem 0; }
}
@media print {
  .page { max-width: none; padding: 0; }
  body { font-size: 10.5pt; }
  nav { display: none; }
  a { color: inherit; text-decoration: none; }
  figure, .tiles, pre, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .wide img { min-width: 0; }
  .scroll, pre { overflow: visible; white-space: pre-wrap; }
}
"""
