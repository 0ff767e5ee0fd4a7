"""Chooses what clang-tidy looks at: tidy_units.py BUILD [LIMIT < CHANGED_FILES].

A unit is a source that the build compiles: a file of the tree, or a unity file that includes some. Writes
BUILD/units/compile_commands.json, which has one command for each unit, and prints the units: all, or those that hold
the changed files, up to the limit, in the order of the files. A header stands for the source beside it.
"""
import json
import os
import re
import sys

# What the build generates while it compiles, and which is not there yet.
GENERATED = re.compile(r"/build/[^/]+/[^/]+\.cpp$")


def members(unit, top):
    """The files of the tree that a unit compiles, as paths from the top."""
    files = [unit]
    if "/Unity/" in unit:
        files = re.findall(r'#include "([^"]+)"', open(unit, encoding="utf-8").read())
    for file in files:
        if GENERATED.search(file) and not os.path.exists(file):
            open(file, "w", encoding="utf-8").close()
    return {os.path.relpath(file, top) for file in files if "/build/" not in file}


def read_units(build, top):
    """{unit: its files}; of the two dtypes only the first, unless the second has files of its own."""
    with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
        commands = json.load(file)
    units, chosen, covered = {}, [], set()
    for command in commands:
        files = members(command["file"], top)
        if not files <= covered:
            units[command["file"]] = files
            chosen.append(command)
            covered |= files
    os.makedirs(f"{build}/units", exist_ok=True)
    with open(f"{build}/units/compile_commands.json", "w", encoding="utf-8") as file:
        json.dump(chosen, file)
    return units


def main():
    build, limits = sys.argv[1], [int(limit) for limit in sys.argv[2:]]
    units = read_units(build, os.getcwd())
    if not limits:
        print("\n".join(units))
        return
    unit_of = {file: unit for unit, files in units.items() for file in files}
    changed = (re.sub(r"\.hpp$", ".cpp", line.strip()) for line in sys.stdin)
    files = [file for file in dict.fromkeys(changed) if file in unit_of]
    chosen = list(dict.fromkeys(unit_of[file] for file in files))[:limits[0]]
    left_out = sum(unit_of[file] not in chosen for file in files)
    if left_out:
        print(f"note: clang-tidy leaves out {left_out} of {len(files)} changed files", file=sys.stderr)
    print("\n".join(chosen))


main()
