#include "domain/command.h"
#include "domain_unit.h"

/* What is found out about a line by somebody who looks for `git push`. */
enum found {
    CLEAR,    /* it is certain that the line does not run it */
    SEEN,     /* a form says so */
    DOUBTFUL, /* nobody can say: it is asked about */
};

static struct command_reading reading_of(const char *json)
{
    struct command_reading reading;
    assert_true(command_read_call(&test_arena, json_of(json), &reading));
    assert_true(reading.count > 0 && reading.forms[0].text.ptr);
    return reading;
}

static struct command_reading read_text(const char *line)
{
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    json_begin_object(&out);
    json_put_text(&out, "command", slice_of(line));
    json_end_object(&out);
    struct command_reading reading = reading_of(arena_copy(&test_arena, buffer_slice(&json)).ptr);
    buffer_release(&json);
    return reading;
}

static bool has_form(const struct command_reading *reading, const char *prefix, bool only_plain)
{
    for (size_t i = 0; i < reading->count; i++) {
        if (slice_starts(reading->forms[i].text, slice_of(prefix)) && (reading->forms[i].is_plain || !only_plain)) {
            return true;
        }
    }
    return false;
}

static enum found look(const char *line)
{
    struct command_reading reading = read_text(line);
    return has_form(&reading, "git push", false) ? SEEN : reading.is_certain ? CLEAR : DOUBTFUL;
}

static void check_all(const char *const *lines, size_t count, enum found found)
{
    bool all_hold = true;
    for (size_t i = 0; i < count; i++) {
        if (look(lines[i]) != found) {
            print_error("row \"%s\" is not as expected\n", lines[i]);
            all_hold = false;
        }
    }
    assert_true(all_hold);
}

static const char *const clear_lines[] = {
    "git status",
    "git log --oneline -5",
    "git log --grep 'git push'",
    "git commit -m 'do not git push'",
    "git commit -m 'one\n\ntwo'",
    "git diff --stat HEAD^ -- src/a.c",
    "git -C dir status --short",
    "git --no-pager show HEAD^ | head",
    "ls -la src",
    "cat a.txt b.txt",
    "grep -rn push .",
    "echo 'costs $5'",
    "echo git push",
    "echo \"git push\"",
    "make test",
    "make -j4 -C src test 2>&1 | tail -n 5",
    "cd src && make test > log",
    "npm test",
    "npm run build && npm run lint",
    "cargo build --release",
    "pytest -k name tests/test_x.py::test_y",
    "./build.sh --fast",
    "bash build.sh",
    "bash -lc 'make test'",
    "sh -c 'ls; pwd'",
    "./build.sh > log 2>&1; tail log",
    "bash -lc './build.sh > log'",
    "cp a b && ls > c",
    "python3 test.py",
    "python3 -m pytest tests",
    "python3.11 test.py -c x",
    "python3 --version",
    "node server.js",
    "env CI=1 npm test",
    "CI=1 NODE_ENV=test npm test",
    "timeout 5 npm test",
    "timeout -s KILL 5 nice -n 10 npm test",
    "nohup npm test > log 2>&1 &",
    "sudo -u bob ls",
    "sed -n '1,50p' file",
    "sed -n 5p file",
    "sed -i 's/one/two/g' file",
    "sort -u names | uniq -c | sort -rn | head -20",
    "find . -name x.c -type f -mtime -7",
    "find . -name '*.c' -print",
    "printf '%s' x",
    "test -f x || echo no",
    "export NODE_ENV=test && npm test",
    "sleep 1; ls\npwd",
    "ls &&\npwd",
    "rm -rf build",
    "command -v git",
    "eval 'ls; pwd'",
    "exec ls",
    "wc -l < file",
    "/usr/bin/ls -l",
    "ls 2>/dev/null >&2",
};

static void ordinary_lines_are_clear(void **state)
{
    (void)state;
    check_all(clear_lines, COUNT_OF(clear_lines), CLEAR);
}

static const char *const seen_lines[] = {
    "xargs git push",
    "ls | xargs -n 1 git push",
    "find . -name x -exec git push {} \\;",
    "find . -execdir git push ;",
    "time -p git push",
    "watch -n 1 git push",
    "watch 'git push'",
    "parallel git push ::: a b",
    "su -c 'git push' bob",
    "flock lock git push",
    "flock lock -c 'git push'",
    "unknown-starter git push",
    "sh run.sh git push",
    "python3 run.py git push",
    "node x.js --run=git,push",
    "gcc -wrapper git,push a.c",
    "unknown-starter --run='git push'",
    "unknown-starter -x 'ls; git push'",
    "unknown-starter sh -c 'git push'",
    "firejail --quiet git push",
    "chronic git push",
    "coproc git push",
    "coproc NAME { git push; }",
    "f() { git push; }; f",
    "function f { git push; }; f",
    "if ls; then git push; fi",
    "case x in x) git push;; esac",
    "select i in 1; do git push; done",
    "until git push; do ls; done",
    "[[ x ]] && git push",
    "diff <(git push) x",
    "tee >(git push)",
    "echo ${x:-$(git push)}",
    "cat <<X\n$(git push)\nX",
    "trap 'git push' EXIT",
    "env -S 'git push'",
    "env --split-string='git push'",
    "env -S'git push'",
    "git-push origin",
    "/usr/lib/git-core/git-push origin",
    "GIT push",
    "Git push origin",
    "/opt/bin/git push",
    "git -C . --no-pager push",
    "git --exec-path=x push",
    "command -- git push",
    "noglob git push",
    "- git push",
    "sort --compress-program='git push' x",
    "tar cf x --checkpoint-action=exec='git push' .",
    "tar cf x --checkpoint --checkpoint-action 'exec=git push' .",
    "tar cf x -I 'git push' .",
    "rsync -e 'git push' a b:",
    "ssh -o ProxyCommand='git push' host",
    "rg --pre 'git push' x",
    "bash -c -- 'git push'",
    "bash --rcfile x -ic 'git push'",
    "sh -c 'sh -c \"git push\"'",
    "doas git push",
    "npx git push",
    "busybox sh -c 'git push'",
    "true | git push",
    "docker run x git push",
    "script -qc 'git push' /dev/null",
    "expect -c 'spawn git push; git push'",
    "PATH=/x git push",
    "git push | cat",
    "ls\ngit push",
    "ls # x\ngit push",
    "git push # x",
    "git\tpush",
    "git push>x",
    "git push 2>&1 > x &",
    "git pu\"s\"h",
    "'git' 'push'",
    "git \\\npush",
};

static void what_stands_in_the_line_is_seen(void **state)
{
    (void)state;
    check_all(seen_lines, COUNT_OF(seen_lines), SEEN);
}

static const char *const doubtful_lines[] = {
    /* words that become others */
    "git $WHAT",
    "$GIT push",
    "git ${W}ush",
    "git \"$(cat what)\"",
    "git `cat what`",
    "git pu?h",
    "git p*",
    "gi* push",
    "git pu[s]h",
    "{git,push}",
    "git -C . {push,origin}",
    "git {p,}ush",
    "ls *.c",
    "ls ~/x",
    "ls ~bob",
    "git $'push'",
    "git $\"push\"",
    "git $'\\x70ush'",
    "git \"!!\"",
    "!g",
    "!! push",
    "^pull^push",
    "=git x",
    "ls caf\xC3\xA9",
    "[ -d src ]",
    "git show HEAD~1",
    "git\vpush",
    "git\001push",
    "IFS=x; gitxpush",
    "g='git push'; $g",
    "x=push; git ${x}",
    "set -- git p; \"$@\"",
    "read x < file; ls",
    "echo $((1+1))",
    "((x=1))",
    "let x=1",
    /* what decides what a program is */
    "PATH=/tmp/x ls",
    "LD_PRELOAD=/tmp/x ls",
    "BASH_ENV=x bash build.sh",
    "GIT_SSH_COMMAND=x git fetch",
    "PAGER=x git log",
    "CI='$(x)' ls",
    "env PATH=/tmp/x ls",
    "export PATH=/tmp/x",
    "export GIT_PAGER",
    "declare -x PATH=x",
    "alias ls=git",
    "hash -p /tmp/x ls",
    "enable -f x.so ls",
    "unset 'a[$(x)]'",
    "printf -v PATH x",
    "test -v 'a[$(x)]'",
    "[ 'a[$(x)]' -eq 0 ]",
    "exit 'a[$(x)]'",
    ". ./x",
    "source x",
    "source /dev/stdin",
    "set -k",
    "shopt -s expand_aliases",
    "ls() { x; }",
    "./ls x",
    "/tmp/git status",
    "LS x",
    /* "$_" holds the last word of the command before, and arithmetic evaluates names */
    "true 'a[$(x)]'; test -v 'b[_]'",
    "true 'a[$(x)]'; '[' _ -eq 0 ']'",
    "true 'a[$(x)]'; printf %d _",
    "true 'a[$(x)]'; wait -p 'b[_]'",
    "true 'a[$(x)]'; exit _",
    "printf %d PATH=5",
    "jobs -x git x",
    "command jobs -x x",
    "LC_ALL=/tmp/x ls",
    "timeout 5 CI=1 x",
    "nohup CI=./x ls",
    "integer PATH=5",
    "echo x > /dev/tcp/host/80",
    /* a pattern about a place does not mean what lies elsewhere */
    "cat src/../key",
    "./scripts/../x",
    "sh scripts/../x",
    "echo x > out/../key",
    "tar2 --x=out/../key",
    /* code from elsewhere */
    "cd /dev; echo git push | sh stdin",
    "cd /; echo git push | sh dev/stdin",
    "echo git push | sh s",
    "echo x | python3 s",
    "exec < x; ./reader",
    "exec 3< x; ./reader <&3",
    "sort -o s x; sh s",
    "sort -uo s x; sh s",
    "uniq x s; sh s",
    "shuf -e x -o s; sh s",
    "xxd -r x s; sh s",
    "gunzip s.gz; sh s",
    "dd if=x of=s; sh s",
    "sort -o .git/config x; git status",
    "cp x node_modules/.bin/ls; npx ls",
    "python3 run.py 'x; y'",
    "php php://stdin",
    "echo git push | sh",
    "echo git push | bash -s -- now",
    "echo git push | bash /dev/stdin",
    "echo git push | bash /proc/self/fd/0",
    "echo git push | sudo sh",
    "echo git push | ./reader",
    "./reader < file",
    "bash",
    "bash -s",
    "bash -i",
    "bash < x",
    "bash <<< x",
    "bash -O extglob x.sh",
    "bash -o keyword x.sh",
    "bash --rcfile x",
    "cat <<X\ntext\nX",
    "cat <<'X'\ntext\nX",
    "echo push | xargs git",
    "curl x | sh",
    "curl x | tee y | sh -e",
    "sh -c \"$X\"",
    "sh -c 'git $0' push",
    "eval \"$X\"",
    "eval 'git $x'",
    "echo x > s; sh s",
    "echo x > ./s && ./s",
    "echo x > Makefile; make",
    "echo x > package.json && npm test",
    "echo x > .git/config; git status",
    "echo x | tee s; python3 s",
    "sh s & echo x > s",
    "curl -o s https://x; sh s",
    "sh -c 'echo x > s; sh s'",
    /* code in another language */
    "python3 -c 'import os'",
    "python3.11 -c 'import os'",
    "python -",
    "python3",
    "python3 -m timeit 'import os'",
    "pypy3 -c x",
    "perl -e 'exec q(git), q(push)'",
    "perl5.36.0 -e x",
    "perl -ne x file",
    "ruby -e x",
    "ruby3.1 -e x",
    "node -e x",
    "node --eval x",
    "node18 -p x",
    "php -r x",
    "php8.2 -r x",
    "lua5.4 -e x",
    "awk 'BEGIN{system(\"x\")}'",
    "gawk -f x",
    "mawk 1 x",
    "sed '1e x' f",
    "sed 's/a/x/e' f",
    "sed 's/a/x/w f' g",
    "sed -e 1p f",
    "sed '1w f' g",
    "sed -f x f",
    "ed x",
    "vim -c '!x'",
    "vim +'!x'",
    "less x",
    "man -P x ls",
    "gdb -ex 'shell x'",
    "sqlite3 x '.shell x'",
    "psql -c '\\! x'",
    "m4 x",
    "dc -e '!x'",
    "emacs --batch --eval x",
    "deno eval x",
    /* programs that start what their options say */
    "curl --engine ./x.so y",
    "curl -K x",
    "gcc -wrapper x,y a.c",
    "gcc -fplugin=./x.so a.c",
    "gcc-12 -B. a.c",
    "cc @x",
    "tree -R -o x",
    "find . -delete -exec rm {} +",
    "find . -ok rm {} \\;",
    "find . -fprintf x y",
    "find -files0-from x -exec x {} +",
    "sort --compress-prog=x f",
    "tar xf x --to-command=y",
    "tar cIf x y z",
    "rsync -e x a b",
    "ssh host ls",
    "scp -S x a b",
    "rg --pre x y",
    "zip -T -TT x y",
    "make SHELL=/tmp/x",
    "make CC='$(shell x)'",
    "make --eval=x",
    "make -f -",
    "docker run x",
    "docker exec x ls",
    "kubectl exec x -- ls",
    "busybox ls",
    "npx -c 'x'",
    "time ls",
    "sudo -s",
    "sudo -i ls",
    "sudo --askpass ls",
    "nice --adj=1 ls",
    "timeout --sig KILL 1 ls",
    "env --ch=/ ls",
    "env - ls",
    "exec -a git ls",
    "at now",
    "crontab x",
    "nc -e x host 1",
    "socat - EXEC:x",
    "script x",
    "tmux new x",
    "patch < x",
    "split --filter=x f",
    "wget --use-askpass=x y",
    /* git, which starts what it is told to */
    "git -c alias.p=push p",
    "git -c alias.x=!x x",
    "git -c core.pager=x log",
    "git --config-env=alias.p=P p",
    "git -p log",
    "git --git-dir=x status",
    "git p",
    "git config alias.p push",
    "git submodule foreach x",
    "git bisect run x",
    "git filter-branch --tree-filter x",
    "git rebase -x x main",
    "git rebase --exec=x main",
    "git rebase -i main",
    "git grep -Ox y",
    "git grep --open-files-in-pager=x y",
    "git difftool -x x",
    "git clone ext::x y",
    "git clone -u x y",
    "git clone -c core.fsmonitor=x y",
    "git clone --upload-pack=x y",
    "git clone --template=x y",
    "git fetch --upload-pack=x y",
    "git fetch --upl=x y",
    "git ls-remote --exec=x y",
    "git archive --remote=x --exec=y z",
    "git diff --ext-diff",
    "git log --show-signature",
    "git log --output=x",
    "git commit -S",
    "git merge -s x y",
    "git cat-file --textconv x",
    "git help x",
    "git send-email x",
    "git daemon",
    /* broken, or differently read by shells */
    "git 'pull",
    "git \"pull",
    "ls \\",
    "ls &&",
    "ls |",
    "ls ;; ls",
    "; ls",
    "ls |& cat",
    "ls &> x",
    "ls >& x",
    "ls >| x",
    "ls <> x",
    "ls 12> x",
    "ls >&1\"0\"",
    "ls {x}> y",
    "> x",
    "< x",
    "ls >",
    "ls # x",
    "echo a#b",
    "(ls)",
    "{ ls; }",
    "! ls",
    "if ls; then pwd; fi",
    "for i in 1; do ls; done",
    "while ls; do pwd; done",
    "[[ a ]]",
    "ls &!",
    "\"\" ls",
    "-x ls",
    "%1",
    "a=b=c",
    "a+=b ls",
    "\"CI\"=1 ls",
    "",
    " ",
    "\n",
    "unknown 'with blanks'",
    "unknown ';'",
    "unknown '$x'",
};

static void what_is_not_understood_is_doubted(void **state)
{
    (void)state;
    check_all(doubtful_lines, COUNT_OF(doubtful_lines), DOUBTFUL);
}

static void files_that_are_written_are_forms(void **state)
{
    static const struct {
        const char *line, *form;
    } rows[] = {
        {"echo x > a/b", "> a/b"},  {"echo x >>a/b", "> a/b"},     {">'a/b' echo x", "> a/b"},
        {"wc -l < a/b", "< a/b"},   {"ls 2> a/b | wc", "> a/b"},   {"ls >/dev/null > a/b", "> a/b"},
        {"nice ls > a/b", "> a/b"}, {"ls >/dev/null/x", "> /dev"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command_reading reading = read_text(rows[i].line);
        assert_row(rows[i].line, has_form(&reading, rows[i].form, true));
    }
    struct command_reading none = read_text("ls >/dev/null 2>&1");
    assert_false(has_form(&none, ">", false));
}

/* The line of a nested shell, or a guess, is no reason to allow anything. */
static void only_what_stands_there_is_plain(void **state)
{
    static const char *const lines[] = {"sh -c 'git push > a'", "unknown 'git push > a'", "env git push",
                                        "eval git push",        "/usr/bin/git push",      "Git push"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct command_reading reading = read_text(lines[i]);
        assert_row(lines[i], !has_form(&reading, "git push", true) && !has_form(&reading, "> a", true));
    }
}

static void calls_have_many_shapes(void **state)
{
    static const struct {
        const char *json;
        bool is_certain, has_push;
    } rows[] = {
        {"{\"cmd\":[\"git\",\"push\"]}", true, true},
        {"{\"command\":\"git\",\"args\":[\"push\",\"-u\"]}", true, true},
        {"{\"command\":\"env\",\"args\":[\"git\",\"push\"]}", true, true},
        {"{\"command\":\"ls; git\",\"args\":[\"push\"]}", false, false},
        {"{\"command\":\"ls\",\"args\":[]}", true, false},
        {"{\"command\":\"ls\",\"args\":null}", true, false},
        {"{\"command\":\"ls\",\"args\":[7]}", false, false},
        {"{\"command\":\"ls\",\"script\":\"git push\"}", true, true},
        {"{\"command\":\"ls\",\"env\":{\"PATH\":\"/x\"}}", false, false},
        {"{\"command\":\"ls\",\"env\":{}}", true, false},
        {"{\"command\":\"ls\",\"shell\":\"fish\"}", false, false},
        {"{\"command\":\"cat\",\"stdin\":\"x\"}", false, false},
        {"{\"command\":[\"CI=1\",\"ls\"]}", false, false},
        {"{\"command\":[\"ls\",\"*\"]}", true, false},
        {"{\"command\":[]}", false, false},
        {"{\"command\":[\"a\\u0001b\"]}", false, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command_reading reading = reading_of(rows[i].json);
        assert_row(rows[i].json, reading.is_certain == rows[i].is_certain);
        assert_row(rows[i].json, has_form(&reading, "git push", false) == rows[i].has_push);
    }
}

/* It ends soon, too: guesses are many. */
static void too_much_is_doubted(void **state)
{
    static const char *const repeated[] = {
        " 'env x=y -z --a=b'", "=; ", "a=", " -a", " 'sh -c '", "; ", " unknown", "\\\"\\\\", " > a", " env", " a=b"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(repeated) * 2; i++) {
        struct buffer line = {0};
        buffer_add(&line, i % 2 ? SLICE("git push; unknown '") : SLICE("git push; unknown "));
        while (line.len < 300000) {
            buffer_add(&line, slice_of(repeated[i / 2]));
        }
        buffer_add_byte(&line, '\0');
        struct command_reading reading = read_text(line.ptr);
        assert_row(repeated[i / 2], !reading.is_certain);
        assert_row(repeated[i / 2], has_form(&reading, "git push", true));
        buffer_release(&line);
        arena_reset(&test_arena);
    }
}

/* Whoever adds members to a call decides what its command does. */
static void other_members_of_a_call_are_uncertain(void **state)
{
    static const char *const rows[] = {
        "{\"command\":\"ls\",\"args\":\"-l; x\"}",
        "{\"command\":[\"git\"],\"args\":[\"push\"]}",
        "{\"script\":\"ls\",\"args\":[\"x\"]}",
        "{\"command\":\"ls\",\"arguments\":[\"x\"]}",
        "{\"command\":\"ls\",\"executable\":\"/tmp/x\"}",
        "{\"command\":\"ls\",\"shell\":true}",
        "{\"command\":\"ls\",\"envs\":{\"PATH\":\"x\"}}",
        "{\"command\":\"ls\",\"preload\":\"x\"}",
        "{\"command\":{\"line\":\"x\"}}",
        "{\"command\":true}",
    };
    static const char *const certain[] = {
        "{\"command\":\"ls\",\"description\":\"x; y\",\"timeout\":5,\"run_in_background\":true}",
        "{\"command\":\"ls\",\"cwd\":\"a\",\"env\":{},\"args\":[],\"anything\":7}",
        "{\"command\":[\"ls\",\"-l\"],\"workdir\":\"a\",\"parsed_cmd\":[{\"type\":\"x\"}]}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i], !reading_of(rows[i]).is_certain);
    }
    for (size_t i = 0; i < COUNT_OF(certain); i++) {
        assert_row(certain[i], reading_of(certain[i]).is_certain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_members_of_a_call_are_uncertain),
        cmocka_unit_test(ordinary_lines_are_clear),
        cmocka_unit_test(what_stands_in_the_line_is_seen),
        cmocka_unit_test(what_is_not_understood_is_doubted),
        cmocka_unit_test(files_that_are_written_are_forms),
        cmocka_unit_test(only_what_stands_there_is_plain),
        cmocka_unit_test(calls_have_many_shapes),
        cmocka_unit_test(too_much_is_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
