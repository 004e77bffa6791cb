#include "domain/command_internal.h"

/* Only what is known to be safe stands here as such: an option, a variable or a command of git that is not listed is
 * uncertain. Abbreviated options are not listed, and so are none. */
static const struct command_program programs[] = {
    {.names = ": true false echo pwd cd pushd popd dirs type which sleep "
              "cat tac head tail wc ls dir vdir stat mkdir rmdir rm touch chmod chown chgrp truncate "
              "basename dirname realpath readlink mktemp date whoami id groups uname hostname uptime arch nproc tty "
              "seq yes cut paste tr comm join fold fmt expand unexpand nl od hexdump base64 base32 cksum sum "
              "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cmp diff df du free ps pgrep printenv "
              "grep egrep fgrep expr rev column numfmt jq",
     .kind = COMMAND_QUIET},
    {.names = "cp mv ln tee uniq shuf xxd gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd unzip dd",
     .kind = COMMAND_QUIET,
     .writes = true},
    {.names = "umask kill", .kind = COMMAND_INERT},
    {.names = "[ test", .kind = COMMAND_TEST},
    {.names = "printf", .kind = COMMAND_PRINTF},
    {.names = "exit", .kind = COMMAND_NUMBERS},
    {.names = "wait", .kind = COMMAND_NUMBERS, .letters = "nf"},
    {.names = "ulimit", .kind = COMMAND_NUMBERS, .letters = "SHacdefilmnpqrstuvx"},
    {.names = "jobs", .kind = COMMAND_OPTIONS, .letters = "lnprs"},
    {.names = "curl",
     .kind = COMMAND_OPTIONS,
     .letters = "#012346afgGiIjJklLnNOpqRsSvZA:b:c:C:d:D:e:F:H:m:o:r:t:T:u:U:w:x:X:y:Y:z:",
     .words = "--silent --show-error --fail --fail-with-body --location --output= --remote-name --request= --header= "
              "--data= --data-raw= --data-binary= --data-urlencode= --json= --form= --get --head --include --user= "
              "--insecure --verbose --max-time= --connect-timeout= --retry= --compressed --url= --user-agent= "
              "--cookie= --cookie-jar= --upload-file= --http1.1 --http2 --no-progress-meter --write-out= --proxy= "
              "--progress-bar --create-dirs --range= --referer=",
     .writes = true},
    {.names = "file", .kind = COMMAND_OPTIONS, .letters = "biIkLhNnr0s", .words = "--brief --mime --mime-type"},
    {.names = "tree", .kind = COMMAND_OPTIONS, .letters = "adflinpqsughDFvtrCxL:P:I:"},
    {.names = "export", .kind = COMMAND_EXPORT},
    {.names = "sort",
     .kind = COMMAND_OPTIONS,
     .letters = "bdfgiMhnRrVcCmuzsk:t:o:S:",
     .words = "--reverse --unique --numeric-sort --human-numeric-sort --version-sort --key= --field-separator=",
     .output = 'o'},
    {.names = "find",
     .kind = COMMAND_OPTIONS,
     .letters = "LHP0:1:2:3:4:5:6:7:8:9:",
     .words = "-name -iname -path -ipath -wholename -regex -iregex -type -size -empty -newer -mtime -mmin -atime "
              "-ctime -perm -user -group -links -inum -maxdepth -mindepth -depth -xdev -mount -prune -print -print0 "
              "-printf -ls -quit -delete -o -or -a -and -not -true -false"},
    {.names = "rg",
     .kind = COMMAND_OPTIONS,
     .letters = "nNilcvwxFSsHhLoUue:g:t:T:A:B:C:m:",
     .words = "--files --hidden --no-ignore --no-heading --count --glob= --type= --max-count= --context= --color= "
              "--line-number --fixed-strings --ignore-case --files-with-matches --sort= --json"},
    {.names = "wget", .kind = COMMAND_OPTIONS, .letters = "qcO:P:", .words = "--quiet --continue", .writes = true},
    {.names = "make gmake",
     .kind = COMMAND_OPTIONS,
     .letters = "j:C:ksBn",
     .words = "--jobs= --directory= --keep-going --silent --dry-run --no-print-directory",
     .excluded = "=",
     .runs_files = true},
    {.names = "cc gcc g++ c++ clang clang++",
     .kind = COMMAND_OPTIONS,
     .letters = "cEgO:I:L:l:D:U:o:",
     .words =
         "-std= -Wall -Wextra -Werror -Wpedantic -pedantic -fPIC -fPIE -pthread -shared -static -MMD -MD -MP -ggdb",
     .excluded = "@",
     .writes = true},
    {.names = "sed",
     .kind = COMMAND_SED,
     .letters = "nErsui:",
     .words = "--quiet --silent --in-place --regexp-extended"},
    {.names = "git",
     .kind = COMMAND_GIT,
     .runs_files = true,
     .letters = "PC:",
     .words = "--no-pager --literal-pathspecs --no-optional-locks"},

    {.names = "env",
     .kind = COMMAND_PREFIX,
     .letters = "i0vu:C:",
     .words = "--ignore-environment --null --unset= --chdir=",
     .assigns = true},
    {.names = "command", .kind = COMMAND_PREFIX, .letters = "pvV"},
    {.names = "builtin exec nohup", .kind = COMMAND_PREFIX},
    {.names = "setsid", .kind = COMMAND_PREFIX, .letters = "cfw", .words = "--ctty --fork --wait"},
    {.names = "nice", .kind = COMMAND_PREFIX, .letters = "n:", .words = "--adjustment="},
    {.names = "ionice", .kind = COMMAND_PREFIX, .letters = "c:n:t"},
    {.names = "stdbuf", .kind = COMMAND_PREFIX, .letters = "i:o:e:", .words = "--input= --output= --error="},
    {.names = "timeout",
     .kind = COMMAND_PREFIX,
     .letters = "k:s:v",
     .words = "--kill-after= --signal= --foreground --preserve-status --verbose",
     .operands = 1},
    {.names = "sudo",
     .kind = COMMAND_PREFIX,
     .letters = "u:g:nEHk",
     .words = "--user= --group= --non-interactive --preserve-env --set-home",
     .assigns = true},
    {.names = "doas", .kind = COMMAND_PREFIX, .letters = "u:n"},
    {.names = "npx", .kind = COMMAND_PREFIX, .letters = "y", .words = "--yes", .runs_files = true},

    {.names = "sh bash dash ash zsh ksh mksh",
     .kind = COMMAND_SHELL,
     .letters = "celux",
     .words = "--login --noprofile --norc"},
    {.names = "python pypy",
     .kind = COMMAND_SCRIPT,
     .letters = "uBEIsS",
     .words = "pytest unittest venv pip mypy ruff black flake8 build"},
    {.names = "perl ruby node nodejs php lua luajit tclsh wish rscript julia", .kind = COMMAND_SCRIPT},
    {.names = "eval", .kind = COMMAND_EVAL},

    {.names = "xargs parallel awk gawk mawk nawk original-awk watch time ssh scp sftp rsync tar bsdtar cpio zip "
              "vi vim view nvim ex ed red emacs nano pico less more most man info pager gdb lldb strace ltrace perf "
              "valgrind expect script screen tmux su runuser setpriv chroot unshare nsenter taskset chrt flock busybox "
              "toybox docker podman nerdctl kubectl lxc m4 dc bc sqlite sqlite3 psql mysql mariadb mail mailx ftp lftp "
              "telnet nc ncat netcat socat at batch crontab systemd-run systemctl start-stop-daemon init logrotate "
              "alias unalias trap source . coproc fc bind complete compgen compopt enable hash set shopt setopt "
              "unsetopt emulate autoload read readarray mapfile declare typeset local readonly let unset getopts "
              "deno bun zmodload functions noglob nocorrect jshell ghci irb guile scheme sbcl clisp r octave gnuplot "
              "pwsh csh "
              "tcsh rc es fish elvish nu xonsh patch dpkg rpm apt apt-get aptitude split install caffeinate "
              "ld.so rlwrap unbuffer chronic firejail bwrap runcon xvfb-run dbus-run-session osascript open "
              "xdg-open capsh pkexec gosu fakeroot proot eatmydata cpulimit prlimit numactl setarch linux32 linux64 "
              "run-parts entr integer float private print zle vared zcompile zparseopts zstyle sched r whence hist "
              "history shift "
              "yash posh loksh oksh elixir iex erl raku groovy racket janet gjs qjs swift scala kotlin crystal ocaml",
     .kind = COMMAND_RUNS},
};

static const char history_words[] =
    "--oneline --graph --stat --shortstat --numstat --name-only --name-status --all --decorate --no-decorate --patch "
    "--no-patch --max-count= --since= --until= --after= --before= --author= --committer= --grep= --format= --pretty "
    "--pretty= --abbrev-commit --no-merges --merges --first-parent --follow --reverse --date= --cached --staged "
    "--no-index --color= --no-color --word-diff --check --quiet --exit-code --unified= --ignore-all-space "
    "--ignore-space-change --no-renames --find-renames --diff-filter= --summary --raw --no-ext-diff --no-textconv --";

/* Commands of git itself: no alias can take their names. Those that start what they are told to, or set what later
 * commands of git start (config, submodule, bisect …), are missing. */
static const struct command_program git_commands[] = {
    {.names = "log diff show", .letters = "pswbMn:U:S:G:L:0123456789", .words = history_words},
    {.names = "status",
     .letters = "sbuz",
     .words = "--short --branch --porcelain --porcelain= --untracked-files= --ignored --long --show-stash"},
    {.names = "add", .letters = "Aufnv", .words = "--all --update --force --dry-run --verbose --intent-to-add --"},
    {.names = "commit",
     .letters = "am:qvsnF:",
     .words = "--all --message= --amend --no-edit --quiet --verbose --signoff --no-verify --allow-empty --author= "
              "--date= --file= --"},
    {.names = "push",
     .letters = "ufnqvd",
     .words = "--set-upstream --force --force-with-lease --force-with-lease= --force-if-includes --tags --all --delete "
              "--dry-run --mirror --follow-tags --no-verify --quiet --verbose --progress --prune --atomic"},
    {.names = "fetch pull",
     .letters = "apqvtn",
     .words = "--all --prune --tags --no-tags --quiet --verbose --rebase --no-rebase --ff-only --no-ff --depth= "
              "--unshallow --dry-run --force --autostash"},
    {.names = "clone",
     .letters = "qvb:o:n",
     .words = "--quiet --verbose --branch= --depth= --single-branch --bare --mirror --no-checkout --no-tags --"},
    {.names = "branch",
     .letters = "advrDmMlf",
     .words = "--all --list --delete --move --copy --show-current --contains --merged --no-merged --remotes --force "
              "--set-upstream-to= --sort= --verbose"},
    {.names = "tag", .letters = "alfdnm:", .words = "--list --delete --force --annotate --message= --sort= --contains"},
    {.names = "checkout switch restore reset",
     .letters = "bBcCfqdtSWs:",
     .words = "--force --quiet --detach --track --orphan --hard --soft --mixed --keep --staged --worktree --source= "
              "--create --ours --theirs --"},
    {.names = "merge cherry-pick revert",
     .letters = "nm:",
     .words = "--continue --abort --skip --quit --no-commit --no-ff --ff-only --squash --no-edit --message="},
    {.names = "rebase", .words = "--continue --abort --skip --quit --onto --autostash --no-autostash --root"},
    {.names = "stash", .letters = "um:kp", .words = "--include-untracked --message= --keep-index --index --quiet --"},
    {.names = "remote", .letters = "v", .words = "--verbose"},
    {.names = "rm mv clean", .letters = "rfndxXqkv", .words = "--cached --force --dry-run --quiet --"},
    {.names = "ls-files ls-tree rev-parse rev-list merge-base describe blame shortlog reflog cat-file hash-object "
              "show-ref for-each-ref name-rev count-objects version init worktree apply",
     .letters = "abcdefhilnoprstuvzL:w",
     .words = "--show-toplevel --abbrev-ref --short --verify --git-dir --is-inside-work-tree --others --cached "
              "--modified --deleted --stage --exclude-standard --name-only --tags --always --dirty --count --all "
              "--max-count= "
              "--format= --sort= --porcelain --bare --check --stat --cached --index --reverse --numbered --summary --"},
    {.names = "grep",
     .letters = "nilcEFwPLvhHe:A:B:C:",
     .words = "--line-number --ignore-case --count --cached --untracked --files-with-matches --fixed-strings --"},
};

static const char safe_variables[] =
    "CI DEBUG VERBOSE NODE_ENV RAILS_ENV APP_ENV LANG LC_ALL TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR "
    "RUST_BACKTRACE RUST_LOG CGO_ENABLED GOOS GOARCH PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE DEBIAN_FRONTEND PORT "
    "HOST";

bool command_list_has(const char *list, struct slice word)
{
    size_t len = 0;
    for (const char *at = list; at && *at; at += len + strspn(at + len, " ")) {
        len = strcspn(at, " ");
        if (slice_eq(slice_from(at, len), word)) {
            return true;
        }
    }
    return false;
}

static const struct command_program *find(const struct command_program *rows, size_t count, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (command_list_has(rows[i].names, name)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* python3.11, perl5.36-x: the version says nothing about what its arguments are. */
static struct slice without_version(struct slice name)
{
    while (name.len > 1 && strchr("0123456789.-", name.ptr[name.len - 1])) {
        name.len--;
    }
    return name;
}

const struct command_program *command_find_program(struct slice name)
{
    const struct command_program *row = find(programs, sizeof programs / sizeof programs[0], name);
    static const struct command_program other_version = {.kind = COMMAND_RUNS};
    if (row) {
        return row;
    }
    row = find(programs, sizeof programs / sizeof programs[0], without_version(name));
    bool is_interpreter =
        row && (row->kind == COMMAND_SHELL || row->kind == COMMAND_SCRIPT || row->kind == COMMAND_RUNS);
    return !row || row->kind == COMMAND_QUIET ? NULL : is_interpreter ? row : &other_version;
}

const struct command_program *command_find_git(struct slice name)
{
    return find(git_commands, sizeof git_commands / sizeof git_commands[0], name);
}

bool command_is_safe_variable(struct slice assignment)
{
    struct slice name, value;
    if (!slice_cut(assignment, '=', &name, &value) || !command_list_has(safe_variables, name)) {
        return false;
    }
    bool is_locale = command_list_has("LANG LC_ALL", name); /* with a path, a locale is whatever lies there */
    return !is_locale || !memchr(value.ptr, '/', value.len);
}

static enum command_option long_option(const char *words, struct slice word)
{
    struct slice name, value;
    bool has_value = slice_cut(word, '=', &name, &value);
    name = has_value ? name : word;
    if (!has_value && command_list_has(words, name)) {
        return OPTION_ALONE;
    }
    for (const char *at = words; at && (at = memmem(at, strlen(at), name.ptr, name.len)); at += name.len) {
        bool begins = at == words || at[-1] == ' ';
        if (begins && at[name.len] == '=') {
            return has_value ? OPTION_ALONE : OPTION_WITH_NEXT;
        }
    }
    return OPTION_UNKNOWN;
}

enum command_option command_option_of(const struct command_program *program, struct slice word)
{
    enum command_option found = long_option(program->words, word);
    if (found != OPTION_UNKNOWN || word.len < 2 || word.ptr[1] == '-') {
        return found;
    }
    for (size_t i = 1; i < word.len; i++) {
        const char *letter = word.ptr[i] != ':' && word.ptr[i] != '\0' && program->letters
                                 ? strchr(program->letters, word.ptr[i])
                                 : NULL;
        if (!letter) {
            return OPTION_UNKNOWN;
        }
        if (letter[1] == ':') {
            return i + 1 == word.len ? OPTION_WITH_NEXT : OPTION_ALONE;
        }
    }
    return OPTION_ALONE;
}
