"""Times xtape and LibTorch side by side; see bench/README.md. Started by bench/run.sh."""

import argparse
import fnmatch
import json
import os
import signal
import sys
import time
from contextlib import closing

from measure import measure
from report import cells, header, line
from workers import THREADS, Worker, WorkerError, kinds


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="bench/run.sh", usage="bench/run.sh [WORKLOAD...] [--json FILE] [--rounds N]", allow_abbrev=False
    )
    parser.add_argument("--binaries", required=True, help="where the workers are")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("workloads", nargs="*")
    arguments = parser.parse_intermixed_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    if arguments.json and not os.path.isdir(os.path.dirname(os.path.abspath(arguments.json))):
        parser.error(f"there is no directory for {arguments.json}")
    return parser, arguments


def named_by(word, known):
    """The workload with this name, else all that match it as a pattern or start with it."""
    if word in known:
        return {word}
    return {name for name in known if fnmatch.fnmatch(name, word) or name.startswith(word + "_")}


def chosen(parser, known, words):
    """The workloads that the arguments name, in the order of the table; all if there are no arguments."""
    wanted = set()
    for word in words:
        named = named_by(word, known)
        if not named:
            parser.error(f"there is no workload '{word}'; known are: {' '.join(known)}")
        wanted |= named
    return [name for name in known if not words or name in wanted]


def introduce(binaries):
    """Prints the libraries and kernels in use. Returns the peak in GFLOP/s."""
    peaks = []
    for kind in kinds():
        for threads in THREADS:
            with closing(Worker(binaries, kind, threads)) as worker:
                if kind.name == "products":
                    peaks.append(worker.number("peak"))
                    print(f"peak, {threads} T: {peaks[-1]:.0f} GFLOP/s of multiply-adds on registers")
                    continue
                print(f"{kind.name}, {threads} T: {' '.join(worker.ask('about'))}")
    return max(peaks)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the workers end, too
    parser, arguments = parse_arguments()
    with closing(Worker(arguments.binaries, kinds()[0], 1)) as worker:
        workloads = chosen(parser, worker.ask("list"), arguments.workloads)
    started = time.monotonic()
    peak_gflops = introduce(arguments.binaries)
    print("\nMilliseconds; T: threads\n\n" + header(), flush=True)
    rows = []
    for workload in workloads:
        rows.append(measure(arguments.binaries, workload, arguments.rounds, peak_gflops))
        print(line(cells(rows[-1])), flush=True)
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=1)
    print(f"\n{arguments.rounds} rounds, {time.monotonic() - started:.0f} s")


try:
    main()
except (WorkerError, OSError) as failure:
    sys.exit(f"error: {failure}")
