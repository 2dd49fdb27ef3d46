// Writes a `claude` that answers at once: a shell script, which starts in a millisecond and needs no compiler.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { claudeCode } from "./bodies.mjs";

// Another message id in every turn, as in the real CLI.
const quoted = `'${claudeCode.text(10).join("").replaceAll("'", "'\\''").replaceAll("msg_bench", "msg_bench_'$turn'")}'`;

const SCRIPT = `#!/bin/sh
turn=0
answer() {
  turn=$((turn + 1))
  printf '%s' ${quoted}
}
control=no
for word in "$@"; do
  case $word in
    --version) echo '2.1.325 (Claude Code)'; exit 0 ;;
    --input-format) control=yes ;;
  esac
done
if [ $control = no ]; then answer; exit 0; fi
while IFS= read -r line; do
  case $line in
    *'"control_request"'*)
      id=\${line#*'"request_id":"'}
      printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"models":[]}}}\\n' "\${id%%'"'*}" ;;
    *'"type":"user"'*) answer ;;
  esac
done
`;

export function writeFakeClaude(path) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, SCRIPT);
  chmodSync(path, 0o755);
  return path;
}
