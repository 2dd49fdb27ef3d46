#!/bin/sh
# A `claude` that prints the transcript in $BENCH_FILE.
case " $* " in *" --version "*) echo '2.1.325 (Claude Code)'; exit 0 ;; esac
exec cat "$BENCH_FILE"
