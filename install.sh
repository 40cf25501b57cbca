#!/bin/sh
# Installs parley from its releases: it finds out the system, downloads the archive of the newest
# release and the list of checksums, compares them, and puts the program into ~/.local/bin.
#
#   curl -fsSL https://github.com/parleyfleet/parley/releases/latest/download/install.sh | sh
#   sh install.sh --prefix /usr/local --version 0.2.0
#
# It asks nothing, never calls sudo and changes no other file. PARLEY_BASE is where the releases
# are, if not at github.com.
set -eu

base=${PARLEY_BASE:-https://github.com/parleyfleet/parley/releases}
prefix=${HOME:-}/.local
version=

usage() {
	cat <<'USAGE'
Usage: sh install.sh [--prefix DIR] [--version VERSION]

  --prefix DIR       install into DIR/bin (default: ~/.local)
  --version VERSION  this version (default: the newest)

PARLEY_BASE names another place of the releases than github.com.
USAGE
}

# fail says what could not be done, and what helps.
fail() {
	printf 'install.sh: %s\n' "$1" >&2
	if [ $# -gt 1 ]; then
		printf 'hint: %s\n' "$2" >&2
	fi
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# fetch URL FILE downloads a file whole, or fails.
fetch() {
	if have curl; then
		curl -fsSL --connect-timeout 20 --retry 2 -o "$2" "$1"
	else
		wget -q -T 20 -O "$2" "$1"
	fi
}

# sum FILE prints the SHA-256 of a file.
sum() {
	if have sha256sum; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif have shasum; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	else
		openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
	fi
}

# All is in a function that is called last, so that a script that was cut on its way does nothing.
main() {
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix | --version)
			[ $# -gt 1 ] || fail "$1 needs a value"
			if [ "$1" = --prefix ]; then prefix=$2; else version=${2#v}; fi
			shift
			;;
		--prefix=*) prefix=${1#*=} ;;
		--version=*) version=${1#*=} version=${version#v} ;;
		-h | --help)
			usage
			exit 0
			;;
		*)
			usage >&2
			exit 2
			;;
		esac
		shift
	done
	case $prefix in
	/.local) fail "cannot tell where your home is: HOME is not set" "name a folder with --prefix DIR" ;;
	/*) ;;
	*) prefix=$PWD/$prefix ;;
	esac
	have curl || have wget || fail "cannot download: neither curl nor wget is here" "install one of them"
	have tar || fail "cannot unpack the archive: tar is not here" "install tar"
	have sha256sum || have shasum || have openssl ||
		fail "cannot check what is downloaded: none of sha256sum, shasum and openssl is here" "install one of them"

	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no parley for the system $(uname -s) here" "on Windows take the zip from $base; elsewhere build it: go install ./cmd/parley in a clone" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no parley for the processor $(uname -m)" "build it: go install ./cmd/parley in a clone" ;;
	esac

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	from=$base/latest/download
	[ -z "$version" ] || from=$base/download/v$version
	fetch "$from/checksums.txt" "$work/checksums.txt" ||
		fail "cannot download $from/checksums.txt" "is the network there? PARLEY_BASE names another place"
	line=$(grep "^[0-9a-f]\{64\}  parley_[^ /]*_${os}_$arch\.tar\.gz\$" "$work/checksums.txt" | head -n 1) || true
	[ -n "$line" ] || fail "the release at $from has no archive for $os on $arch" "look at $base"
	want=${line%% *}
	archive=${line##* }
	version=${archive#parley_}
	version=${version%"_${os}_$arch.tar.gz"}
	printf 'parley %s for %s on %s, from %s\n' "$version" "$os" "$arch" "$base"
	# By its version, not as the newest: that may be another one by now.
	fetch "$base/download/v$version/$archive" "$work/$archive" ||
		fail "cannot download $base/download/v$version/$archive whole; nothing was installed" "try it again"
	got=$(sum "$work/$archive")
	[ "$got" = "$want" ] ||
		fail "$archive is not what the release says: its SHA-256 is $got, and should be $want. Nothing was installed" "try it again; if it stays so, tell the maintainers (SECURITY.md)"
	tar -xzf "$work/$archive" -C "$work" parley || fail "cannot unpack $archive; nothing was installed"
	"$work/parley" version >/dev/null 2>&1 || fail "the program does not start here; nothing was installed" "is the folder $work on a disk from which nothing may be started? Set TMPDIR"

	bin=$prefix/bin
	{ mkdir -p "$bin" && [ -w "$bin" ]; } 2>/dev/null ||
		fail "cannot write into $bin" "choose another folder with --prefix DIR, or run this as who may write there"
	[ ! -d "$bin/parley" ] || fail "cannot write $bin/parley: it is a folder" "choose another folder with --prefix DIR"
	# Written beside it and renamed, so that a running parley goes on and no half file is ever there.
	new=$bin/.parley-new-$$
	if ! { cp "$work/parley" "$new" && chmod 755 "$new" && mv -f "$new" "$bin/parley"; }; then
		rm -f "$new"
		fail "cannot write $bin/parley"
	fi
	printf 'installed: %s\n' "$bin/parley"
	case :${PATH:-}: in
	*:"$bin":*)
		found=$(command -v parley || true)
		[ "$found" = "$bin/parley" ] || printf 'note: your shell finds another parley first: %s\n' "$found"
		call=parley
		;;
	*)
		printf 'note: %s is not in your PATH. Put this into the profile of your shell:\n  %s\n' "$bin" "export PATH=\"$bin:\$PATH\""
		call=$bin/parley
		;;
	esac
	printf 'next: %s\n' "$call install claude      # or codex: each of its sessions is an agent then"
	printf '      %s\n' "$call demo                # or watch two of them talk for a moment"
}

main "$@"
