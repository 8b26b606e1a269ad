#!/usr/bin/env bash
# Builds the Lambda functions: dist/<function>-<arch>.zip, each with one file, bootstrap, for the
# provided.al2023 runtime. The same sources give the same bytes. Then prints what they weigh.
#   scripts/build.sh                 bin/porchlight for this machine, and every function
#   scripts/build.sh ask reindex     only these functions
set -euo pipefail
cd "$(dirname "$0")/.."

functions=("$@")
if [ "${#functions[@]}" -eq 0 ]; then
    functions=(ask reindex review)
    go build -trimpath -o bin/porchlight ./functions/local
fi
archs=(arm64 amd64)
for f in "${functions[@]}"; do
    if [ ! -f "functions/$f/main.go" ]; then
        echo "build: there is no functions/$f/main.go" >&2
        exit 1
    fi
done

# Lambda takes 50 MB as a direct upload and nothing over 250 MB unzipped.
pack() { # binary, zip
    python3 - "$1" "$2" <<'PY'
import hashlib, os, sys, zipfile

binary, target = sys.argv[1:]
with open(binary, "rb") as f:
    data = f.read()
entry = zipfile.ZipInfo("bootstrap", date_time=(1980, 1, 1, 0, 0, 0))
entry.create_system = 3               # unix, so that the mode below counts
entry.external_attr = 0o100755 << 16  # a regular file that may be run
entry.compress_type = zipfile.ZIP_DEFLATED
with zipfile.ZipFile(target + ".part", "w") as z:
    z.writestr(entry, data, compresslevel=9)
os.replace(target + ".part", target)
zipped, mb = os.path.getsize(target), 1024 * 1024
digest = hashlib.sha256(open(target, "rb").read()).hexdigest()[:12]
print(f"{os.path.basename(target):<22}{len(data) / mb:>8.1f} MB{zipped / mb:>8.1f} MB  {digest}")
if zipped > 50 * mb or len(data) > 250 * mb:
    sys.exit(f"build: {target} is larger than Lambda accepts")
PY
}

mkdir -p dist
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
printf '%-22s%11s%11s  %s\n' zip bootstrap zipped sha256
for f in "${functions[@]}"; do
    for arch in "${archs[@]}"; do
        # lambda.norpc: the streaming response needs the runtime API, not the old RPC entry.
        CGO_ENABLED=0 GOOS=linux GOARCH="$arch" go build -tags lambda.norpc -trimpath -buildvcs=false \
            -ldflags '-s -w' -o "$work/bootstrap" "./functions/$f"
        pack "$work/bootstrap" "dist/$f-$arch.zip"
    done
done
