#!/usr/bin/env python3
"""Writes the golden values of tests/golden/values with PyTorch 1.13 (Debian: apt install python3-torch).

  /usr/bin/python3 tests/golden/make_golden.py            # writes every family
  /usr/bin/python3 tests/golden/make_golden.py reduce     # one family
  /usr/bin/python3 tests/golden/make_golden.py --check    # compares with the committed files, to 1e-13

If PyTorch 1.13 lacks an op, layer or optimizer, the script composes its value from torch ops by formula. The tests read
the files; they need neither Python nor PyTorch.
"""

import argparse
import base64
import importlib
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from golden_file import GoldenFile  # noqa: E402


def decoded(array):
    if "int" in array:
        return np.array(array["int"])
    kind = "f64" if "f64" in array else "f32"
    return np.frombuffer(base64.b64decode(array[kind]), dtype="<f8" if kind == "f64" else "<f4").astype(np.float64)


def differences(made, committed):
    """Names of arrays that differ by more than 1e-13 of their scale, or that are missing in one file."""
    for name in sorted(set(made) | set(committed)):
        if name not in made or name not in committed:
            yield name
            continue
        sections = {(s, k) for case in (made, committed) for s in case[name] for k in case[name][s]}
        for section, key in sorted(sections):
            a, b = (case[name].get(section, {}).get(key) for case in (made, committed))
            if a is None or b is None or a["shape"] != b["shape"]:
                yield f"{name} {section}.{key}"
                continue
            x, y = decoded(a), decoded(b)
            scale = max(1.0, np.abs(y[np.isfinite(y)]).max(initial=0))
            if not np.allclose(x, y, rtol=0, atol=1e-13 * scale, equal_nan=True):
                yield f"{name} {section}.{key}"


def main():
    families = sorted(path.stem for path in (HERE / "families").glob("*.py"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", nargs="*", help=", ".join(families))
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the committed files differ")
    args = parser.parse_args()
    unknown = set(args.family) - set(families)
    if unknown:
        parser.error(f"no such family: {', '.join(sorted(unknown))}")
    wrong = 0
    for family in args.family or families:
        golden = GoldenFile()
        importlib.import_module(f"families.{family}").write(golden)
        path, text = HERE / "values" / f"{family}.json", golden.text()
        if args.check:
            found = list(differences(json.loads(text), json.loads(path.read_text()) if path.exists() else {}))
            wrong += len(found)
            print(f"{family}: {len(golden.cases)} cases, {len(found)} differences", *found[:10], sep="\n  ")
        else:
            path.write_text(text)
            print(f"{family}: {len(golden.cases)} cases, {len(text) / 1024:.0f} KB")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
