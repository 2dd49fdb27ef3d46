import { programName } from "./shell-names.ts";

/** Programs whose arguments are data, or that are handled elsewhere. Any other program may run its arguments. */
const KNOWN: ReadonlySet<string> = new Set(
  // The shell itself.
  (
    "for select case in function return exit break continue shift cd pushd popd dirs pwd export unset set shopt declare typeset " +
    "local readonly read mapfile readarray let getopts hash type wait jobs fg bg kill disown suspend times umask ulimit enable " +
    "true false : test [ [[ echo printf alias unalias history source . " +
    // Files and texts.
    "ls dir vdir exa eza lsd tree cat bat tac nl head tail less more wc sort uniq cut paste join comm tr rev fold fmt pr column expand " +
    "unexpand tee touch mkdir rmdir cp mv ln install link unlink shred truncate chmod chown chgrp chattr umount mount du df stat file " +
    "readlink realpath basename dirname mktemp dd sync diff diff3 sdiff cmp colordiff delta patch cksum md5sum sha1sum sha224sum " +
    "sha256sum sha384sum sha512sum b2sum shasum base32 base64 xxd od hexdump strings iconv dos2unix grep egrep fgrep zgrep rg ag ack " +
    "find gfind fd fdfind sed gsed awk gawk mawk nawk jq yq xmllint csvcut bc dc expr seq yes factor shuf numfmt tar gtar bsdtar zip unzip gzip gunzip " +
    "zcat bzip2 bunzip2 xz unxz zstd lz4 7z cpio ar ranlib rsync scp sftp split csplit " +
    // The system.
    "date cal sleep uname hostname uptime free vmstat iostat lscpu lsblk lsof ps top htop pgrep pkill killall who w id whoami groups " +
    "last env printenv locale tty stty clear tput which whereis whatis apropos man info help tldr open xdg-open pbcopy pbpaste " +
    "systemctl service journalctl loginctl crontab at batch useradd userdel usermod groupadd passwd " +
    "apt apt-get apt-cache dpkg dnf yum zypper rpm pacman apk brew port snap flatpak choco winget scoop " +
    // The network.
    "curl wget http https xh ping traceroute dig host nslookup whois ss netstat ifconfig ip nc ncat socat telnet ftp openssl gpg " +
    "ssh-keygen ssh-add ssh-copy-id " +
    // Programming.
    "git gh glab hub svn hg docker docker-compose podman nerdctl buildah kubectl helm oc terraform tofu pulumi aws gcloud az heroku " +
    "fly vercel netlify npm pnpm yarn bun deno node nodejs tsx ts-node tsc python python2 python3 pypy pypy3 pip pip2 pip3 uv poetry " +
    "pipenv pdm hatch rye conda mamba ruby gem bundle rake rails perl php composer lua luajit go gofmt cargo rustc rustup rustfmt " +
    "java javac jar mvn gradle gradlew ant kotlinc scalac sbt swift swiftc xcodebuild gcc g++ cc c++ clang clang++ ld as nm objdump " +
    "strip make gmake cmake ctest ninja meson bazel just task dotnet msbuild mix elixir erl ghc cabal stack stylua shellcheck shfmt " +
    "eslint oxlint biome prettier vitest jest mocha ava tap playwright cypress webpack vite rollup esbuild turbo nx lerna changeset " +
    "pytest tox nox mypy pyright ruff black isort flake8 pylint pre-commit hadolint actionlint sqlite3 psql pg_dump mysql mariadb " +
    "mysqldump redis-cli mongosh duckdb code vi vim nvim view ex ed emacs nano gdb lldb claude millrace"
  ).split(" "),
);

export function isKnownProgram(word: string): boolean {
  return KNOWN.has(programName(word));
}
