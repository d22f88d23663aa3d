# Sourced by deploy/up and deploy/test: makes or refreshes .venv from a lock file.
# POSIX sh, because that is all a fresh Debian or macOS is sure to have.

say() { printf '%s\n' "$*" >&2; }

# Runs apt-get where that can work without asking anything; fails otherwise.
apt_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    [ "$(id -u)" = 0 ] || return 1
    say "Installing with apt-get: $*"
    apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

find_python() {
    for candidate in python3.11 python3.12 python3.13 python3; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# prepare_venv LOCKFILE: afterwards .venv holds exactly what LOCKFILE lists, and Backread.
prepare_venv() {
    lock=$1
    stamp=.venv/.installed-$(basename "$lock")
    if [ -x .venv/bin/backread ] && cmp -s "$lock" "$stamp"; then
        return 0
    fi
    python=$(find_python) || {
        apt_install python3 python3-venv && python=$(find_python)
    } || {
        say "Backread needs Python 3.11, 3.12 or 3.13."
        say "  Debian, Ubuntu:  sudo apt install python3 python3-venv"
        say "  macOS:           brew install python@3.13"
        exit 1
    }
    if [ ! -w . ]; then
        say "No permission to write to $(pwd). Clone Backread into a folder of your own, or check who owns it."
        exit 1
    fi
    say "Setting up Backread in $(pwd)/.venv (once; a minute or more, most of it downloading)"
    if [ ! -x .venv/bin/pip ]; then
        rm -rf .venv
        "$python" -m venv .venv >/dev/null 2>&1 || {
            rm -rf .venv
            apt_install python3-venv && "$python" -m venv .venv
        } || {
            say "Python cannot make virtual environments here. Install its venv module and run this again:"
            say "  Debian, Ubuntu:  sudo apt install python3-venv"
            exit 1
        }
    fi
    say "Installing $(grep -c '^[a-z0-9]' "$lock") packages"
    # The lock lists everything with hashes, so nothing is resolved and nothing can be swapped.
    .venv/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock"
    .venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    cp "$lock" "$stamp"
}
