"""Measures one workload: sets up, checks and warms up every worker, then runs them in turns."""

import statistics
from contextlib import ExitStack, closing
from dataclasses import dataclass

from workers import THREADS, Worker, WorkerError, kinds

TURN_MS = 100  # length of a turn if a step is shorter
LIMIT = 1e-3  # largest relative difference of loss and gradient norm


@dataclass
class First:
    """A worker's report on its first step."""

    loss: float
    gradient_norm: float
    parts: float  # divisor of the step's time
    flops: float  # of the step's matrix products


def check_same(workload, workers, firsts):
    want = firsts[0]
    for worker, got in zip(workers, firsts):
        if worker.kind == "products":
            continue
        loss_error = abs(got.loss - want.loss) / max(1, abs(want.loss))
        norm_error = abs(got.gradient_norm - want.gradient_norm) / abs(want.gradient_norm)
        if not (loss_error <= LIMIT and norm_error <= LIMIT):
            raise WorkerError(
                f"{workload}: the first step differs: loss {want.loss} and gradient norm {want.gradient_norm} by "
                f"xtape, {got.loss} and {got.gradient_norm} by {worker.kind}, {worker.threads} threads"
            )


def warm_up(worker):
    """Runs a few steps. Returns the number of steps that fill a turn."""
    step_ms = worker.number("run 2")
    if step_ms < TURN_MS / 2:
        step_ms = worker.number(f"run {max(3, int(TURN_MS / step_ms))}")
    return max(1, int(TURN_MS / step_ms))


def take_turns(workers, counts, rounds):
    for turn in range(rounds):
        first = turn % len(workers)
        for worker, count in list(zip(workers, counts))[first:] + list(zip(workers, counts))[:first]:
            if count > 1:
                worker.ask("run 1")  # loads its data back into the caches
            worker.times.append(worker.number(f"run {count}"))


def measure(binaries, workload, rounds, peak_gflops):
    """Returns one row of the result."""
    with ExitStack() as stack:
        workers = [
            stack.enter_context(closing(Worker(binaries, kind, threads))) for kind in kinds() for threads in THREADS
        ]
        firsts = [First(*map(float, worker.ask(f"setup {workload}"))) for worker in workers]
        check_same(workload, workers, firsts)
        first = firsts[0]
        timed = [worker for worker in workers if first.flops or worker.kind != "products"]
        take_turns(timed, [warm_up(worker) for worker in timed], rounds)
        return row_of(workload, first, timed, peak_gflops)


def row_of(workload, first, workers, peak_gflops):
    times, memory = {}, {}  # by kind and threads
    for worker in workers:
        key = (worker.kind, worker.threads)
        times[key] = statistics.median(worker.times) / first.parts
        memory[key] = worker.number("memory")

    def best(kind):
        return min((key for key in times if key[0] == kind), key=times.get, default=None)

    xtape, tuned, plain, products = map(best, ("xtape", "tuned", "plain", "products"))
    row = {
        "workload": workload,
        "xtape_ms": times[xtape],
        "libtorch_ms": times[tuned],
        "libtorch_plain_ms": times[plain],
        "ratio": times[tuned] / times[xtape],
        "gemm_ms": times[products] if products else None,
        "limit_ms": first.flops / peak_gflops / 1e6 if products else None,
        "xtape_mb": memory[xtape],
        "libtorch_mb": memory[tuned],
        "first_loss": first.loss,
        "rounds": len(workers[0].times),
    }
    for (kind, threads), value in times.items():
        row[f"{kind}_{threads}_threads_ms"] = value
    return row
