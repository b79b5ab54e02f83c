#!/usr/bin/env bash
# Checksum and size of a file: an `exec:` handler in bash.
#
# stdin: the job as JSON; payload {"path": FILE}. stdout: the result. stderr: log lines.
# fd 3: progress. exit 0 done, 65 the job can never work, 75 try again later.
set -euo pipefail

job=$(cat)

# The first "name": "value" of that name; enough for ids and paths without quotes in them.
field() {
  sed -n "s/.*\"$1\"[[:space:]]*:[[:space:]]*\"\([^\"]*\)\".*/\1/p" <<<"$job" | head -n 1
}

progress() {
  { printf '{"progress": %d, "message": "%s"}\n' "$1" "$2" >&3; } 2>/dev/null || true
}

path=$(field path)
if [[ -z $path ]]; then
  echo "payload.path must name a file" >&2
  exit 65
fi
if [[ ! -e $path ]]; then
  echo "there is no file $path yet, will look again" >&2
  exit 75
fi

progress 10 "reading"
sum=$(sha256sum -- "$path" | cut -d ' ' -f 1)
size=$(stat -c %s -- "$path")
progress 100 "done"

echo "$path has $size bytes" >&2
if [[ -n ${LEDGER:-} ]]; then
  echo "$(field job_type) $(field job_id) done" >>"$LEDGER"
fi
printf '{"sha256": "%s", "bytes": %d}\n' "$sum" "$size"
