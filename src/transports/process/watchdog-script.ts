import { LIST_ARGS, variablesArgs } from "./ps-table.ts";

/**
 * The companion process of a watchdog as a shell program, for every system with `/bin/sh`. It receives lines over a
 * pipe:
 *
 * - `+tag` guard every process that carries this variable; `-tag` stop guarding them
 * - `=tag<TAB>pid:start pid:start …` these processes belong to it as well; replaces an earlier list
 * - `@tag<TAB>path` so do all processes in this control group
 *
 * When the pipe ends, which happens when the process at the other end is gone, all guarded processes and everything
 * they have started receive SIGTERM and, after a second, SIGKILL until nothing is left.
 *
 * A shell costs a megabyte where another Node would cost forty. It ignores signals: a terminal sends them to all
 * processes, and a companion that dies first cannot clean up.
 */
export function writeCompanion(source: "proc" | "ps", platform: NodeJS.Platform): string {
  const readers =
    source === "proc"
      ? PROC_READERS
      : PS_READERS.replace("LIST", LIST_ARGS.join(" ")).replace("VARIABLES", variablesArgs(platform).join(" "));
  return `${LISTEN}${readers}${STOP}`;
}

const LISTEN = `
trap '' HUP INT TERM PIPE
state=""
tab='	'
nl='
'
while IFS= read -r line; do
  kind=\${line%"\${line#?}"}
  tag=\${line#?}; tag=\${tag%%"$tab"*}
  case $kind in
    -|=)
      kept=""
      while IFS= read -r one; do
        [ -n "$one" ] || continue
        other=\${one#?}; other=\${other%%"$tab"*}
        if [ "$other" = "$tag" ]; then
          case $kind$one in -*|==*) continue ;; esac
        fi
        kept="$kept$one$nl"
      done <<END
$state
END
      state=$kept ;;
  esac
  case $kind in +|=|@) state="$state$line$nl" ;; esac
done
tags="" members=" " groups="" leaders=" "
while IFS= read -r one; do
  rest=\${one#?}
  case $one in
    +*) tags="$tags$rest$nl" ;;
    =*) members="$members\${rest#*"$tab"} " ;;
    @*) groups="$groups\${rest#*"$tab"}$nl" ;;
  esac
done <<END
$state
END
[ -n "$tags" ] || exit 0
for one in $members; do leaders="$leaders\${one%%:*} "; done
`;

/** `read_table` writes `pid start parent group` for each living process, `read_tagged` the ids that carry a tag. */
const PROC_READERS = `
read_table() {
  for file in /proc/[0-9]*/stat; do
    { read -r stat < "$file"; } 2>/dev/null || continue
    set -- \${stat##*) }
    pid=\${file#/proc/}; pid=\${pid%/stat}
    case $1 in Z|X) ;; *) echo "$pid \${20} $2 $3" ;; esac
  done
}
read_tagged() {
  for file in $(printf '%s' "$tags" | grep -lzxFf - /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/}; echo "\${pid%/environ}"
  done
}
`;

const PS_READERS = `
read_table() {
  /bin/ps LIST | while read -r pid parent group state a b c d e; do
    case $state in Z*|X*) ;; *) echo "$pid \${a}_\${b}_\${c}_\${d}_$e $parent $group" ;; esac
  done
}
read_tagged() {
  /bin/ps VARIABLES | while read -r pid rest; do
    while IFS= read -r tag; do
      [ -n "$tag" ] || continue
      case " $rest " in *" $tag "*) echo "$pid" ;; esac
    done <<END
$tags
END
  done
}
`;

/**
 * Ids are always paired with start times: an id alone may belong to another process a moment later. Children, and
 * processes in a group that a member leads, are added until none are left.
 */
const STOP = `
look() {
  table=$(read_table)
  carrying=" $(read_tagged | tr '\\n' ' ') "
  inside=" "
  while IFS= read -r group; do
    [ -n "$group" ] || continue
    inside="$inside$(find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null | tr '\\n' ' ') "
  done <<END
$groups
END
  alive="" found=" " everybody=" "
  while read -r pid start parent group; do
    everybody="$everybody$pid "
    case $members in *" $pid:$start "*) found="$found$pid "; alive="$alive $pid:$start"; continue ;; esac
    [ "$pid" -gt 1 ] || continue
    case $carrying$inside in *" $pid "*) found="$found$pid "; alive="$alive $pid:$start" ;; esac
  done <<END
$table
END
  leaders="$leaders$found"
  grown=1
  while [ $grown = 1 ]; do
    grown=0
    while read -r pid start parent group; do
      [ -n "$pid" ] && [ "$pid" -gt 1 ] && [ "$pid" != "$$" ] || continue
      case $found in *" $pid "*) continue ;; esac
      belongs=""
      case $found in *" $parent "*) belongs=1 ;; esac
      case $leaders in *" $group "*)
        case $found in *" $group "*) belongs=1 ;; *)
          case $everybody in *" $group "*) ;; *) belongs=1 ;; esac ;;
        esac ;;
      esac
      [ -n "$belongs" ] || continue
      found="$found$pid "; leaders="$leaders$pid "; alive="$alive $pid:$start"; grown=1
    done <<END
$table
END
  done
  members=" $alive "
}
send() {
  for one in $alive; do kill -"$1" "\${one%%:*}" 2>/dev/null; done
}
finish() {
  while IFS= read -r group; do
    [ -n "$group" ] && find "$group" -depth -type d -exec rmdir {} \\; 2>/dev/null
  done <<END
$groups
END
  exit 0
}
look
send TERM
for round in 1 2 3 4 5 6 7 8 9 10; do
  [ -n "$alive" ] || break
  sleep 0.1
  look
done
for round in 1 2 3 4 5 6 7 8 9 10; do
  look
  [ -n "$alive" ] || finish
  while IFS= read -r group; do
    [ -n "$group" ] && { echo 1 > "$group/cgroup.kill"; } 2>/dev/null
  done <<END
$groups
END
  send KILL
  sleep 0.1
done
finish
`;
