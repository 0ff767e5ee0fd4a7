"""Formats the results as a Markdown table."""

from workers import THREADS


def columns():
    names = ["workload"]
    for title in ("xtape", "LibTorch tuned", "plain"):
        names += [f"{title} {threads} T" for threads in THREADS]
    return names + ["ratio", "products", "limit", "xtape MB", "LibTorch MB"]


def cells(row):
    values = [row["workload"]]
    for kind in ("xtape", "tuned", "plain"):
        values += [number(row[f"{kind}_{threads}_threads_ms"]) for threads in THREADS]
    values += [f"{row['ratio']:.2f}", number(row["gemm_ms"]), number(row["limit_ms"])]
    return values + [f"{row['xtape_mb']:.0f}", f"{row['libtorch_mb']:.0f}"]


def number(value):
    """Formats with three significant digits, without an exponent."""
    if value is None:
        return "-"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 5
    return f"{value:.{digits}f}"


def line(values):
    return "| " + " | ".join(values) + " |"


def header():
    names = columns()
    return line(names) + "\n" + line(["---"] + ["---:"] * (len(names) - 1))
