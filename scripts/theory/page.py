"""Writes the page that compares theory with measurement: page.py PAGE.html RESULT.json..."""
import html
import json
import sys

from plots import formula, number, picture_figure, plot_figure

STYLE = """
:root { --page:#fcfcfb; --ink:#1a1d21; --muted:#5a636d; --hair:#e4e6e8; --grid:#ecedee; --ok:#0a7353; --warn:#8a5a00;
  --bad:#b3261e; --c0:#0b5fa5; --c1:#c2500a; --c2:#00805e; --c3:#9b4f8a; --c4:#8a6d00; --c5:#b3261e; --c6:#4b6a88;
  --c7:#2f9bd0; --c8:#6b8e23; }
@media (prefers-color-scheme: dark) { :root { --page:#111417; --ink:#e7e9eb; --muted:#9aa4ae; --hair:#272d33;
  --grid:#20262b; --ok:#4fc39a; --warn:#e3b341; --bad:#ff8078; --c0:#6cb2f0; --c1:#f2955c; --c2:#4fc39a; --c3:#d79bc9;
  --c4:#e3b341; --c5:#ff8078; --c6:#a3b8cc; --c7:#8fd3f4; --c8:#b5d46b; } }
* { box-sizing:border-box }
body { margin:0 auto; max-width:1120px; padding:20px 24px 60px; background:var(--page); color:var(--ink);
  font:15px/1.5 -apple-system,"Segoe UI",Roboto,Inter,"Noto Sans","Liberation Sans",sans-serif;
  font-variant-numeric:tabular-nums }
h1 { font-size:30px; line-height:1.2; font-weight:650; margin:18px 0 8px } h2 { font-size:19px; margin:44px 0 4px }
h3 { font-size:16px; margin:0 0 2px } p { margin:4px 0 } .lede { font-size:16px; max-width:46em }
.formula, .source { color:var(--muted); font-size:14px }
nav { position:sticky; top:0; background:var(--page); padding:8px 0; border-bottom:1px solid var(--hair); font-size:14px }
nav a { color:var(--c0); margin-right:16px; text-decoration:none }
.claim { border-top:1px solid var(--hair); padding:18px 0 10px; margin-top:14px; scroll-margin-top:44px }
.scroll { overflow-x:auto } table { border-collapse:collapse; width:100%; font-size:14px; margin:8px 0 }
th { text-align:left; color:var(--muted); font-weight:500; border-bottom:1px solid var(--hair); padding:3px 10px 3px 0 }
td { border-bottom:1px solid var(--hair); padding:4px 10px 4px 0; vertical-align:top }
td.n, th.n { text-align:right; white-space:nowrap } td.v { min-width:13em } td:first-child { min-width:2.6em } .checks td:first-child { width:46% }
.ok { color:var(--ok) } .warn { color:var(--warn) } .bad { color:var(--bad) } .muted { color:var(--muted) }
.plots { display:grid; grid-template-columns:1fr 1fr; gap:22px 30px; margin:14px 0 } figure { margin:0; min-width:0 }
figcaption b { display:block } figcaption > span { color:var(--muted); font-size:13px }
.legend { list-style:none; margin:2px 0; padding:0; font-size:13px; display:flex; flex-wrap:wrap; gap:0 14px }
.legend svg { margin-right:5px; vertical-align:-1px } figure > svg { width:100%; height:auto; display:block }
svg.picture { max-width:330px } .scale i { display:inline-block; width:11px; height:11px; margin-right:3px }
.grid { stroke:var(--grid) } .tick, .axis { fill:var(--muted); font-size:12px } .line { fill:none; stroke-width:2 }
CURVE_CLASSES
.line.ink { stroke:var(--muted) } .dot.ink { fill:var(--muted) }
@media (max-width:720px) { .plots { grid-template-columns:1fr } h1 { font-size:24px } body { padding:12px 16px 40px } }
@media print { nav { position:static } }
""".replace("CURVE_CLASSES", " ".join(f".line.c{i} {{ stroke:var(--c{i}) }} .dot.c{i} {{ fill:var(--c{i}) }}" for i in range(9)))

TITLES = {
    "theory_recurrent": "Recurrent networks", "theory_momentum": "Momentum and averages", "theory_attention": "Attention",
    "theory_normalization": "Normalization", "theory_regularization": "Regularization",
    "attention_cost": "What attention costs", "decode_cost": "What decoding costs",
}


def good(check):
    return check["verdict"] == "holds" or check["verdict"].startswith("the statement is wrong")


def verdict_cell(check):
    text = formula(check["verdict"])
    if not check["judged"]:
        return f'<td class="v muted">{"○" if check["verdict"] == "as predicted" else "△"} {text}, not judged</td>'
    if check["verdict"].startswith("the statement is wrong"):
        return f'<td class="v warn">✎ {text}</td>'
    return f'<td class="v ok">✓ {text}</td>' if good(check) else f'<td class="v bad">✗ {text}</td>'


def tolerance_text(check):
    tolerance = number(check["tolerance"])
    if check["verdict"].startswith("the statement"):
        return "differs by more" if float(check["tolerance"]) == 0 else f'beyond ±\u202f{number(100 * float(check["tolerance"]))}\u00a0%'
    return {
        "near": "exactly" if float(check["tolerance"]) == 0 else f"±\u202f{tolerance}",
        "relative": f'±\u202f{number(100 * float(check["tolerance"]))}\u00a0%',
        "factor": f"factor {tolerance}",
        "at_most": "at most",
        "at_least": "at least",
    }[check["rule"]]


def check_row(check):
    return (f'<tr><td>{formula(check["what"])}</td><td class="n">{number(check["predicted"])}</td>'
            f'<td class="n">{number(check["measured"])}</td><td class="n">{tolerance_text(check)}</td>'
            f'{verdict_cell(check)}</tr>')


def claim_section(claim, anchor):
    rows = "".join(map(check_row, claim["checks"]))
    remarks = "".join(f"<p>{formula(remark)}</p>" for remark in claim["remarks"])
    figures = "".join(map(plot_figure, claim["plots"])) + "".join(map(picture_figure, claim["pictures"]))
    return (f'<section class="claim" id="{anchor}"><h3>{claim["row"]}&ensp;{formula(claim["statement"])}</h3>'
            f'<p class="formula">{formula(claim["formula"])}</p>'
            f'<p class="source">{html.escape(claim["source"])}</p>'
            f'<div class="scroll"><table class="checks"><tr><th>what</th><th class="n">predicted</th><th class="n">measured</th>'
            f'<th class="n">tolerance</th><th>verdict</th></tr>{rows}</table></div>{remarks}'
            f'<div class="plots">{figures}</div></section>')


def overview(claims):
    """A table with one line per claim: its row, its statement, and how many of its verdicts hold."""
    lines = []
    for anchor, claim in claims:
        judged = [check for check in claim["checks"] if check["judged"]]
        holding = sum(map(good, judged))
        wrong = sum(check["verdict"].startswith("the statement is wrong") for check in judged)
        state = '<span class="ok">✓ holds</span>' if holding == len(judged) else '<span class="bad">✗ not all hold</span>'
        statements = "statement" if wrong == 1 else "statements"
        refuted = f' <span class="warn">✎ {wrong} wrong {statements}</span>' if wrong else ""
        lines.append(f'<tr><td><a href="#{anchor}" style="color:var(--c0)">{claim["row"]}</a></td>'
                     f'<td>{formula(claim["statement"])}</td><td class="n">{holding} of {len(judged)}</td>'
                     f'<td class="v">{state}{refuted}</td></tr>')
    return ('<div class="scroll"><table><tr><th>id</th><th>claim</th><th class="n">verdicts</th><th></th></tr>'
            + "".join(lines) + "</table></div>")


def wrong_statements(claims):
    lines = []
    for anchor, claim in claims:
        for check in claim["checks"]:
            if check["verdict"].startswith("the statement is wrong"):
                right = formula(check["verdict"].removeprefix("the statement is wrong: "))
                lines.append(f'<tr><td><a href="#{anchor}" style="color:var(--c0)">{claim["row"]}</a></td>'
                             f'<td>{formula(check["what"])}</td><td class="n">{number(check["predicted"])}</td>'
                             f'<td class="n">{number(check["measured"])}</td><td class="warn">✎ {right}</td></tr>')
    return ('<div class="scroll"><table><tr><th>claim</th><th>wrong statement</th><th class="n">its value</th>'
            '<th class="n">measured</th><th>what is right</th></tr>' + "".join(lines) + "</table></div>")


def page(results):
    claims, sections, links = [], [], []
    for result in results:
        title = TITLES[result["program"]]
        links.append(f'<a href="#{result["program"]}">{title}</a>')
        sections.append(f'<h2 id="{result["program"]}">{title}</h2>')
        for i, claim in enumerate(result["claims"]):
            anchor = f'{result["program"]}-{i}'
            claims.append((anchor, claim))
            sections.append(claim_section(claim, anchor))
    judged = [check for _, claim in claims for check in claim["checks"] if check["judged"]]
    holding = sum(map(good, judged))
    kind = "Quick run: small samples, short trainings, made-up text." if results[0]["quick"] else "Full run."
    headline = (f"All {len(judged)} verdicts hold." if holding == len(judged)
                else f"{len(judged) - holding} of {len(judged)} verdicts do not hold.")
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>xtape: theory against measurement</title>
<style>{STYLE}</style></head><body>
<p class="muted">xtape, theory against measurement. {kind} Seed {results[0]["seed"]}.</p>
<h1>{headline}</h1>
<p class="lede">Each line compares a number that theory predicts with the one measured in the library itself; the
tolerance decides. Times and memory depend on the machine: they are shown and never judged.</p>
<nav><a href="#overview">Overview</a><a href="#wrong">Wrong statements</a>{"".join(links)}</nav>
<h2 id="overview">Overview</h2>{overview(claims)}
<h2 id="wrong">Common statements that are wrong</h2>{wrong_statements(claims)}
{"".join(sections)}</body></html>
"""


def main(arguments):
    results = []
    for path in arguments[1:]:
        with open(path, encoding="utf-8") as file:
            results.append(json.load(file))
    with open(arguments[0], "w", encoding="utf-8") as file:
        file.write(page(results))


if __name__ == "__main__":
    main(sys.argv[1:])
