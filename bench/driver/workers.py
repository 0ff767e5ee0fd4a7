"""Worker processes: what runs in which environment, and how to talk to them."""

import glob
import os
import signal
import subprocess
from dataclasses import dataclass, field

THREADS = (1, 2)


class WorkerError(Exception):
    """A worker said that it cannot go on, or died."""


@dataclass(frozen=True)
class Kind:
    """A program with the environment that it runs in, beside the caller's own."""

    name: str
    program: str
    environment: dict = field(default_factory=dict)


def tuned_environment():
    """What makes LibTorch fastest: the best kernels of its BLAS whatever the processor's model number says, one OpenMP
    for both, large pages, and memory that is kept instead of given back to the system."""
    blas = glob.glob("/usr/lib/*/openblas-openmp/libblas.so.3")
    if not blas:
        raise WorkerError("OpenBLAS with OpenMP was not found: install libopenblas0-openmp")
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        wide = "avx512f" in file.read()
    return {
        "LD_LIBRARY_PATH": os.path.dirname(blas[0]),
        "OPENBLAS_CORETYPE": "SkylakeX" if wide else "Haswell",
        "ATEN_CPU_CAPABILITY": "avx512" if wide else "avx2",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        "MALLOC_MMAP_THRESHOLD_": "4000000000",
        "MALLOC_TRIM_THRESHOLD_": "8000000000",
        "MALLOC_TOP_PAD_": "67108864",
    }


def kinds():
    return (
        Kind("xtape", "xtape_bench"),
        Kind("products", "xtape_products"),
        Kind("tuned", "libtorch_bench", tuned_environment()),
        Kind("plain", "libtorch_bench"),
    )


class Worker:
    """One process, which sleeps, stopped by a signal, whenever it is not asked something: idle threads that spin would
    take the processor from the one that is being timed."""

    def __init__(self, binaries, kind, threads):
        self.kind = kind.name
        self.threads = threads
        self.times = []
        environment = {**os.environ, **kind.environment, "OMP_NUM_THREADS": str(threads)}
        self._process = subprocess.Popen(
            [os.path.join(binaries, kind.program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, line):
        """The words of the answer, without the first."""
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # its last words are read below
        answer = self._process.stdout.readline()
        if not answer or answer.startswith("error"):
            raise WorkerError(f"{self.kind}, {self.threads} threads, asked '{line}': {answer.strip() or 'it died'}")
        self._process.send_signal(signal.SIGSTOP)
        return answer.split()[1:]

    def number(self, line):
        return float(self.ask(line)[0])

    def close(self):
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
