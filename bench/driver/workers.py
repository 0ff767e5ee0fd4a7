"""Worker processes: their programs, their environments and the communication with them."""

import glob
import os
import signal
import subprocess
from dataclasses import dataclass, field

THREADS = (1, 2)


class WorkerError(Exception):
    """A worker reported an error or died."""


@dataclass(frozen=True)
class Kind:
    """A program and the variables that it gets in addition to the caller's environment."""

    name: str
    program: str
    environment: dict = field(default_factory=dict)


def tuned_environment():
    """The environment in which LibTorch is fastest: the widest kernels of its BLAS whatever the processor's model
    number, one OpenMP runtime for both libraries, huge pages, and an allocator that keeps freed memory."""
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
    """One worker process. It is stopped by a signal except while it answers, because its idle threads would spin and
    take processor time from the worker that is being timed."""

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
        """Sends a command. Returns the words of the answer, without the first."""
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # its last output is read below
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
