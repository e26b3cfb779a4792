"""Kill tests: nothing accepted is lost, answered twice or answered out of order, whenever a process dies.

    python -m tests.kill            the real service: what `make kill-test` runs
    python -m tests.kill --parts    its parts in a small process

served/  `footnote serve` itself, asked through the door of its web chat, over a small library: kill -9, SIGTERM and a
         full disk. The proof; what it cannot show is in
parts/   inbox, worker and stores in a small process with a slow model and a platform that would post twice if nobody
         looked first; it starts in half a second, and on PostgreSQL two of them take over from each other.

Both come in short as tests (test_*.py), with a fixed seed: the choices are the same in each run, the moment is not.
"""
