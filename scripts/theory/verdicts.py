"""Compares the verdicts of the theory programs with the committed ones.

  verdicts.py check REFERENCE_DIRECTORY RESULT.json...    exits 1 if a judged verdict, a count or a tolerance changed
  verdicts.py update REFERENCE_DIRECTORY RESULT.json...   writes the reference
  verdicts.py list RESULT.json...                         exits 1 if a judged verdict fails
"""
import json
import os
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def judged(result):
    """The judged checks: {(row, statement, what): check}."""
    return {
        (claim["row"], claim["statement"], check["what"]): check
        for claim in result["claims"]
        for check in claim["checks"]
        if check["judged"]
    }


def number(value):
    """Converts a number of a result, where NaN and infinity are strings because JSON lacks them; float() reads both."""
    return float(value)


def as_it_should_be(verdict):
    return verdict == "holds" or verdict.startswith("the statement is wrong")


def differences(name, reference, found):
    """Sentences that describe the differences from the reference."""
    for key in reference.keys() - found.keys():
        yield f"{name} {key[0]}: gone: {key[2]}"
    for key, check in found.items():
        where = f"{name} {key[0]}, {key[2]}"
        if key not in reference:
            yield f"{where}: not in the reference; run scripts/theory.sh --update"
            continue
        want = reference[key]
        if check["verdict"] != want["verdict"]:
            yield (f"{where}: '{check['verdict']}', was '{want['verdict']}'"
                   f" (predicted {number(check['predicted']):.6g}, measured {number(check['measured']):.6g})")
        if check["rule"] != want["rule"] or number(check["tolerance"]) > 1.5 * number(want["tolerance"]):
            yield f"{where}: the rule or tolerance is looser than in the reference"
        if want["rule"] == "near" and number(want["tolerance"]) == 0 and check["measured"] != want["measured"]:
            yield f"{where}: counted {check['measured']}, was {want['measured']}"


def reduced(result):
    """The part of a result that is committed: the judged checks, without curves."""
    claims = [
        {"row": c["row"], "statement": c["statement"], "checks": [check for check in c["checks"] if check["judged"]]}
        for c in result["claims"]
    ]
    return {"program": result["program"], "claims": [claim for claim in claims if claim["checks"]]}


def main(arguments):
    mode = arguments[0]
    directory, paths = (None, arguments[1:]) if mode == "list" else (arguments[1], arguments[2:])
    problems, count = [], 0
    for path in paths:
        result = load(path)
        found = judged(result)
        count += len(found)
        name = result["program"]
        if mode == "check":
            problems += differences(name, judged(load(os.path.join(directory, name + ".json"))), found)
        else:
            problems += [f"{name} {key[0]}, {key[2]}: {check['verdict']}"
                         for key, check in found.items() if not as_it_should_be(check["verdict"])]
        if mode == "update":
            with open(os.path.join(directory, name + ".json"), "w", encoding="utf-8") as file:
                json.dump(reduced(result), file, indent=1)
                file.write("\n")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} verdicts, {len(problems)} not as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
