#!/usr/bin/env bash
# Sets up Debian sid's hipcc (ROCm's headers and device libraries, a clang that knows gfx950) in a folder of its own:
#   scripts/hipcc_sid.sh [FOLDER [COMMAND...]]
# FOLDER/hipcc is then a compiler (default build/hipcc_sid): its path is printed, or COMMAND runs with it as MLAFORGE_HIPCC.
# Exit 3, with the reason on stderr, where it cannot be had: no root, no debootstrap, no mount rights, no mirror. A
# failed attempt is not repeated for ten minutes. Calls side by side wait for one setup; none lasts beyond 20 minutes.
set -euo pipefail

folder=$(realpath -m "${1:-$(dirname "$0")/../build/hipcc_sid}")
shift $(($# > 0 ? 1 : 0))
root=$folder/root
compiler=$folder/hipcc
packages=(hipcc)  # it depends on the device libraries and headers of its version

finish() {
  if [ $# -gt 0 ]; then
    MLAFORGE_HIPCC=$compiler exec "$@"
  fi
  echo "$compiler"
  exit 0
}

unavailable() {
  echo "hipcc cannot be had here: $1" >&2
  exit 3
}

# Of what took long: remembered.
failed() {
  echo "$1" >"$folder/unavailable"
  unavailable "$1"
}

works() { [ -x "$compiler" ] && "$compiler" --version >/dev/null 2>&1; }

if works; then
  finish "$@"
fi

[ "$(id -u)" -eq 0 ] || unavailable "this needs root (debootstrap and mounts)"
command -v debootstrap >/dev/null || unavailable "debootstrap is not installed (Debian package debootstrap)"
unshare --mount true 2>/dev/null || unavailable "this system allows no mount namespace"

# The mirror is the one that this machine's apt takes Debian from.
mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
[ -n "$mirror" ] || unavailable "apt has no Debian mirror configured, or apt-get update was never run"

mkdir -p "$folder"
exec 9>"$folder/lock"
flock --timeout 1300 9 || unavailable "another setup in $folder does not end"
if works; then
  exec 9>&-
  finish "$@"
fi
if [ -n "$(find "$folder/unavailable" -mmin -10 2>/dev/null)" ]; then
  unavailable "$(cat "$folder/unavailable")"
fi
log=$folder/setup.log
if [ ! -e "$root/.bootstrapped" ]; then
  rm -rf "$root"
  timeout --kill-after=10 600 debootstrap --variant=minbase sid "$root" "$mirror" >"$log" 2>&1 ||
    failed "debootstrap failed or took more than 10 minutes, see $log: $(tail -n 1 "$log")"
  touch "$root/.bootstrapped"
fi

# Mounts live in a namespace of their own and go with it.
timeout --kill-after=10 600 unshare --mount bash -euc '
  root=$1
  shift
  mount --bind /proc "$root/proc"
  export DEBIAN_FRONTEND=noninteractive
  chroot "$root" apt-get install -y -q --no-install-recommends -o Acquire::Retries=2 -o Acquire::http::Timeout=60 "$@"
' setup "$root" "${packages[@]}" >>"$log" 2>&1 ||
  failed "installing ${packages[*]} failed or took more than 10 minutes, see $log: $(tail -n 1 "$log")"

# The compiler sees the files of this machine at their own paths, and its own system below them.
cat >"$compiler" <<'EOF'
#!/usr/bin/env bash
# Debian sid's hipcc, by scripts/hipcc_sid.sh.
set -euo pipefail
export MLAFORGE_SID_ROOT="$(dirname "$(realpath "$0")")/root"
exec unshare --mount bash -euc '
  root=$MLAFORGE_SID_ROOT
  mount --bind /proc "$root/proc"
  for folder in /*; do
    case "$folder" in
      /bin | /boot | /dev | /etc | /lib* | /proc | /run | /sbin | /sys | /usr | /var) continue ;;
    esac
    [ -d "$folder" ] && [ ! -L "$folder" ] || continue
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
  done
  exec chroot "$root" bash -c "cd \"\$0\" && exec hipcc \"\$@\"" "$PWD" "$@"
' hipcc "$@"
EOF
chmod +x "$compiler"
"$compiler" --version >>"$log" 2>&1 || failed "the installed hipcc does not run, see $log: $(tail -n 1 "$log")"
rm -f "$folder/unavailable"
exec 9>&-
finish "$@"
