"""All benchmarks, one after the other: `make bench`. Each is a command of its own, with its options."""

import runpy
import sys

BENCHMARKS = (
    "bench_ingest",
    "bench_search",
    "bench_references",
    "bench_questions",
    "bench_context",
    "bench_inbox",
    "bench_service",
    "bench_discord",
    "bench_slack",
    "bench_demo",
    "bench_newcomer",
    "bench_extracts",
    "bench_pdf",
)


def main() -> None:
    sys.argv = sys.argv[:1]
    for name in BENCHMARKS:
        print(f"\n{name}")  # noqa: T201 - a report for the terminal
        runpy.run_module(f"tests.benchmarks.{name}", run_name="__main__")


if __name__ == "__main__":
    main()
