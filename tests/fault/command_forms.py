"""Ways to make a line run a command that it does not seem to run; "{}" stands for the command, "{{" for a brace.

One line of this table per idea. The reader may be certain of any of them only if it names the command that runs.
"""

# Arithmetic and names of variables: "$_" holds the last word of the command before.
EVALUATED = (
    "true 'a[$({})]'; test -v 'b[_]'", "true 'a[$({})]'; [ -v 'b[_]' ]", "true 'a[$({})]'; test -v a -o -v 'b[_]'",
    "true 'a[$({})]'; '[' _ -eq 0 ']'", "true 'a[$({})]'; test 0 -lt _", "true 'a[$({})]'; printf %d _",
    "true 'a[$({})]'; printf '%*d' _ 1", "true 'a[$({})]'; exit _", "true 'a[$({})]'; wait -p 'b[_]'",
    "true 'a[$({})]'; ulimit -n _", "true 'a[$({})]'; test -t _", "true 'a[$({})]'; test -R _", "true 'a[$({})]'; shift _",
    "echo $((a[$({})]))", "(( a[$({})] ))", "[[ -v a[$({})] ]]", "[[ 'a[$({})]' -eq 0 ]]", "let 'a[$({})]'", "x='a[$({})]'; echo $((x))",
    "declare -i x='a[$({})]'", "typeset -i x='a[$({})]'", "local -i x='a[$({})]'", "integer x='a[$({})]'", "float x='a[$({})]'",
    "export 'a[$({})]=1'", "readonly 'a[$({})]=1'", "read 'a[$({})]' <in", "read -a x 'a[$({})]' <in", "mapfile -C '{}' -c 1 x <in",
    "readarray -C '{} #' -c 1 <in", "mapfile 'a[$({})]' <in", "getopts x 'a[$({})]' -x", "printf -v 'a[$({})]' x", "printf -vx x; {}",
    "for ((i=a[$({})];0;)); do :; done", "echo ${{x:a[$({})]}}", "echo ${{a[$({})]}}", "echo ${{!x:-$({})}}", "echo ${{x@P}}",
    "PS4='$({})' bash -xc true", "x='$({})'; echo ${{x@P}}", "echo {{1..$({})}}", "echo \"${{x:=$({})}}\"", "a=([$({})]=1)",
    "case $({}) in x) ;; esac", "echo $[a[$({})]]", "set -- 'a[$({})]'; test -v $1", "unset 'a[$({})]'", "test -v 'a[`{}`]'",
)

# What a shell runs later, or instead.
DEFERRED = (
    "trap '{}' EXIT; true", "trap '{}' DEBUG; true", "trap '{}' ERR; false", "trap -- '{}' 0", "trap '{}' USR1; kill -USR1 $$",
    "PROMPT_COMMAND='{}' bash -ic true", "BASH_ENV=s bash -c true", "ENV=s sh -ic true", "ZDOTDIR=. zsh -c true", "bash --rcfile s -i",
    "bash --init-file s -ic true", "alias true='{}'; eval true", "alias true='{}'\ntrue", "shopt -s expand_aliases; alias q='{}'\nq",
    "true() {{ {}; }}; true", "function true {{ {}; }}; true", "true () ( {} )\ntrue", "f() {{ {}; }}; export -f f; bash -c f",
    "env 'BASH_FUNC_true%%=() {{ {}; }}' bash -c true", "command_not_found_handle() {{ {}; }}; nosuch", "enable -n echo; {}",
    "enable -f ./x.so x", "hash -p /stubs/ship true; true", "complete -C '{}' x", "compgen -C '{}'", "compgen -W '$({})'", "bind -x '\"x\":{}'",
    "coproc {}", "coproc NAME {{ {}; }}", "coproc x ( {} )", "jobs -x {}", "builtin jobs -x {}", "command jobs -x {}", "fc -s x={}", "fc -e '{}'",
    "history -s '{}'; fc -s", "sched +0 {}", "zmodload zsh/sched; sched +0 {}", "print -z '{}'", "vared x", "autoload -X {}", "repeat 1 {}",
    "noglob {}", "nocorrect {}", "- {}", "exec -c {}", "exec -l {}", "exec -a true {}", "eval eval '{}'", "eval -- {}", "source s", ". ./s",
    ". /dev/stdin <in", "source <(echo '{}')", "set -o xtrace; {}", "set -- {}; \"$@\"", "set -- {}; $1 $2", "x={}; $x", "x='{}'\n$x",
    "select x in y; do {}; break; done <in", "until {}; do break; done", "if {}; then :; fi", "elif {}", "! ! {}", "time -p {}",
    "{{ {}; }} >out", "( {} ) &", "foreach x (1) {}; end", "while read x; do {}; break; done <in", "for x do {}; done",
)

# Text that becomes a program on its way.
FED = (
    "cd /dev; echo '{}' | sh stdin", "cd /; echo '{}' | sh dev/stdin", "cd /dev/fd; echo '{}' | bash 0", "cd /proc/self; echo '{}' | sh fd/0",
    "ln -s /dev/stdin l; echo '{}' | sh l", "echo '{}' | sh /dev/../dev/stdin", "echo '{}' | sh //dev/stdin", "echo '{}' | sh ./s",
    "echo '{}' | env sh", "echo '{}' | nice -n 1 dash", "echo '{}' | command sh", "echo '{}' | (sh)", "echo '{}' | bash -e",
    "echo '{}' | bash -", "echo '{}' | bash --", "echo '{}' | bash -s", "echo '{}' | sudo -u x sh", "echo '{}' |\nsh", "echo '{}' | \\\nsh",
    "exec <in; sh", "exec <in; dash", "exec <in; posh", "exec 3<in; sh <&3", "exec 3<in\nsh -s <&3", "sh <in", "sh 0<in", "<in sh", "sh <&0",
    "sort -o s in; sh s", "echo '{}' | sort -o s; sh s", "echo '{}' | sort -uo s; sh s", "echo '{}' | uniq - s; sh s",
    "shuf -e '{}' -o s; sh s", "shuf -os -e '{}'; sh s", "echo 7368697020780a | xxd -r -p - s; sh s", "gzip -k s; gunzip -c s.gz; sh s",
    "echo '{}' | tee s; sh s", "echo '{}' | tee s >out; bash s", "printf '%s' '{}' >s && sh s", "cp in s; sh s", "ln in s && dash s",
    "mv in s; sh s", "echo '{}' | cp /dev/stdin s; sh s", "sed -i 's/x/y/' s; sh s", "curl -o s file:///x; sh s", "jq -nr '\"{}\"' | sh",
    "base64 -d <in | sh", "rev <in | dash", "tr a b <in | bash", "printf '\\163hip x' | sh", "echo c2hpcCB4 | base64 -d | sh", "yes '{}' | sh",
    "seq 1 | sed 's/1/{}/e'", "cat <<< '{}' | sh", "cat << X | sh\n{}\nX", "sh <<-X\n\t{}\nX", "sh << 'X'\n{}\nX", "sh 0<<X\n{}\nX",
    "bash <(echo '{}')", "cat in > >({})", "tee >({}) <in", "diff <({}) in", "echo '{}' > ./s; chmod +x s; ./s", "cp s true; PATH=. true",
    "echo '{}' >.bashrc; HOME=. bash -ic true", "echo '{}' >.profile; HOME=$PWD bash -lc true", "sh 'a b'", "sh -c", "sh -c ''", "sh -o errexit -c '{}'",
    "bash -c -- '{}'", "bash -cx '{}'", "sh -c -e '{}'", "sh -e -u -c '{}' a b", "sh -cu '{}'", "bash +x -c '{}'", "bash +c '{}'", "sh -c 'true' '{}'",
    "bash --posix -c '{}'", "bash -Oc extglob '{}'", "bash -l -c '{}'", "sh -c \"sh -c '{}'\"", "zsh -fc '{}'", "dash -c '{}' -- x",
)

# Variables that programs start something from.
VARIABLES = tuple(f"{name}='{{}}' {line}" for name, line in (
    ("GIT_SSH_COMMAND", "git fetch ssh://x/y"), ("GIT_SSH", "git fetch ssh://x/y"), ("GIT_EXTERNAL_DIFF", "git diff HEAD^"),
    ("GIT_PAGER", "git -p log"), ("PAGER", "git -p log"), ("GIT_EDITOR", "git commit --amend"), ("EDITOR", "git commit --amend"),
    ("GIT_SEQUENCE_EDITOR", "git rebase -i HEAD"), ("GIT_ASKPASS", "git fetch https://x"), ("GIT_PROXY_COMMAND", "git fetch git://x/y"),
    ("GIT_TEMPLATE_DIR", "git init x"), ("GIT_EXEC_PATH", "git log"), ("GIT_CONFIG_PARAMETERS", "git status"),
    ("GIT_CONFIG_GLOBAL", "git status"), ("GIT_DIR", "git status"), ("LESSOPEN", "less in"), ("LESSCLOSE", "less in"), ("MANPAGER", "man x"),
    ("LD_PRELOAD", "ls"), ("LD_AUDIT", "ls"), ("LD_LIBRARY_PATH", "ls"), ("GCONV_PATH", "ls"), ("LOCPATH", "ls"), ("PYTHONSTARTUP", "python3 s"),
    ("PYTHONPATH", "python3 s"), ("PYTHONHOME", "python3 s"), ("PERL5OPT", "perl s"), ("PERL5LIB", "perl s"), ("PERL5DB", "perl s"),
    ("RUBYOPT", "ruby s"), ("NODE_OPTIONS", "node s"), ("JAVA_TOOL_OPTIONS", "java x"), ("MAKEFLAGS", "make"), ("SHELL", "make"), ("TAR_OPTIONS", "ls"),
    ("GREP_OPTIONS", "grep x in"), ("RSYNC_RSH", "rsync x y:z"), ("BROWSER", "ls"), ("VISUAL", "ls"), ("FCEDIT", "fc"), ("ENV", "sh -c ls"),
    ("PATH", "ls"), ("IFS", "ls"), ("HOME", "bash -lc ls"), ("TMPDIR", "ls"), ("XDG_CONFIG_HOME", "git status"), ("RIPGREP_CONFIG_PATH", "rg x"),
    ("CURL_HOME", "curl x"), ("WGETRC", "wget x"), ("npm_config_script_shell", "npm test"), ("LC_ALL", "ls"), ("CI", "ls"), ("_", "ls"),
))

# Programs that start what their options say.
PROGRAMS = (
    "git -c core.sshCommand='{}' fetch x:y", "git -c diff.external='{}' diff HEAD", "git --exec-path=. log", "git -c alias.q='!{}' q",
    "git --config-env=core.pager=X log", "git fetch --upload-pack='{}' .", "git push --receive-pack='{}' . HEAD:x", "git push --exec='{}' .",
    "git clone -u '{}' . y", "git clone --config core.hooksPath=. . y", "git clone -c core.sshCommand='{}' . y", "git clone --template=. . y",
    "git ls-remote --upload-pack='{}' .", "git archive --remote=. --exec='{}' HEAD", "git fetch 'ext::{}'", "git remote add x 'ext::{}'; git fetch x",
    "git difftool -y -x '{}' HEAD^", "git mergetool --tool='{}'", "git bisect run {}", "git bisect start; git bisect run {}",
    "git submodule foreach '{}'", "git rebase --exec '{}' HEAD", "git rebase -x'{}' HEAD", "git rebase -i HEAD", "git filter-branch --tree-filter '{}'",
    "git for-each-repo --config=x {}", "git config core.pager '{}'; git -p log", "git config --global alias.x '!{}'", "git help -c '{}'",
    "git grep --open-files-in-pager='{}' x", "git diff --ext-diff", "git log --textconv -p", "git show --ext-diff", "git commit -e -m x",
    "git interpret-trailers --trailer x='{}'", "git send-email --smtp-server='{}'", "git instaweb --browser='{}'", "git var GIT_EDITOR",
    "git worktree add --force y", "git init --template=. x", "git notes edit", "git apply --directory=. in", "git hook run x", "git maintenance run",
    "git --git-dir=. status", "git --work-tree=. status", "git -C . -c x.y={} log", "git -p log", "git --paginate log", "git-upload-pack .",
    "git merge -s '{}' HEAD", "git merge --strategy='{}' HEAD", "git stash -p", "git add -p", "git checkout -p", "git commit -p", "git shell -c '{}'",
    "tar cf x --use-compress-program='{}' in", "tar cf x --to-command='{}' in", "tar xf x --to-command '{}'", "tar -cf x -F '{}' in",
    "tar cf x --checkpoint=1 --checkpoint-action=exec={} in", "tar cf x --rsh-command='{}' in", "tar cf h:x --rsh-command={} in",
    "sed -e '1e {}' in", "sed --expression='1e {}' in", "sed -n '1{{e {}\n}}' in", "sed 's/x/{}/e' in", "sed '1w s' in; sh s", "sed -f s in",
    "sed -s '1e{}' in", "sed -n -- '1e {}' in", "sed '1p;1e {}' in", "sed 1p in -e '1e {}'", "sed 's|.*|{}|;e' in", "sed --sandbox '1e {}' in",
    "find . -maxdepth 0 -execdir {} ';'", "find . -maxdepth 0 -ok {} ';' <in", "find . -fprintf s '{}'; sh s", "find . -fprint s", "find . -fls s",
    "find . -maxdepth 0 '-exec' {} ';'", "find . -maxdepth 0 -exe''c {} \\;", "find -files0-from in -exec {} ';'", "find . -name -exec {} ';'",
    "awk 'BEGIN{{\"{}\"|getline}}'", "awk 'BEGIN{{print|\"{}\"}}'", "gawk -f s", "awk -v x=1 -f s in", "mawk 'BEGIN {{ system(\"{}\") }}'",
    "vim -c '!{}' -c q", "vim +'!{}' +q", "ex -c '!{}' in", "ed in <in", "vi -es -c '!{}'", "nano -s '{}' in", "emacs --eval '(x)'",
    "less '+!{}' in", "more in", "man -P '{}' ls", "man -H'{}' ls", "info --restore=x", "ssh -o ProxyCommand='{}' h", "ssh -oProxyCommand='{}' h",
    "ssh -F s h", "ssh h {}", "scp -S '{}' x h:y", "scp -o ProxyCommand='{}' x h:y", "sftp -S '{}' h", "rsync -e '{}' x h:y",
    "rsync --rsh='{}' x h:y", "rsync --rsync-path='{}' x h:y", "make -f s", "make --file=s", "make -E '$(shell {})'", "make SHELL='{}'", "make x=1",
    "make -e", "make -I .", "make --directory=. -f s", "npm exec -c '{}'", "npm run x --script-shell='{}'", "npx -c '{}'", "npx --call='{}'",
    "npx -p x {}", "npx {}", "python3 -m code", "python3 -m timeit '{}'", "python3 -m pdb s", "python3 -c 'x'", "python3 -ic x", "python3 -W x s",
    "python3 -X importtime -c x", "python3 -", "perl -e 'x'", "perl -Mx s", "perl -pe 'x' in", "perl -d s", "perl -x s", "ruby -e x", "ruby -r./s x",
    "node -e x", "node -p x", "node -r ./s x", "node --eval=x", "node --import=x y", "node inspect s", "php -r x", "php php://stdin <in", "lua -e x",
    "xargs -I% {} <in", "xargs -a in {}", "parallel {} ::: x", "printf x | xargs -0 {}", "timeout -v 5 {}", "timeout --preserve-status 5 {}",
    "timeout 5 CI=1 {}", "nohup CI=1 {}", "nice CI=1 {}", "command CI=1 {}", "setsid -f {}", "setsid -fw {}", "stdbuf --output=L {}",
    "stdbuf -i0 -o0 -e0 {}", "ionice -c2 -n7 {}", "nice --adjustment=1 {}", "nice --adj=1 {}", "chroot / {}", "unshare -r {}", "nsenter -t 1 {}",
    "taskset 1 {}", "chrt -o 0 {}", "doas {}", "sudo {}", "sudo -s {}", "sudo -i {}", "sudo CI=1 {}", "sudo -u x -- {}", "su - -c '{}'", "runuser -c '{}'",
    "busybox sh -c '{}'", "busybox {}", "toybox {}", "env -S{}", "env --split-string='{}'", "env -vS '{}'", "env -iS '{}'", "env - {}", "env -C . {}",
    "env -u PATH {}", "env --argv0=x {}", "env CI='{}' true", "env 'x=() {{ {}; }}' bash -c x", "split --filter '{}' in", "sort --compress-program={} -S1 in",
    "sort -T . --comp='{}' -S1 in", "dd if=in of=s; sh s", "install -m 755 in s; ./s", "install -s --strip-program='{}' in s", "ld.so /stubs/ship x",
    "/lib64/ld-linux-x86-64.so.2 /stubs/ship x", "curl --engine ./x.so x", "curl -K in", "curl -K- <in", "tree -R -L 1 -o x -H .", "file -C -m in",
    "dc -e '!{}'", "bc <in", "m4 in", "sqlite3 x '.shell {}'", "psql -c '\\! {}'", "gdb -ex 'shell {}'", "strace -o x {}", "ltrace {}", "script -c '{}' x",
    "screen -dm {}", "tmux new -d '{}'", "at now <in", "crontab in", "systemd-run {}", "flock -n l {}", "watch -x {}", "entr {} <in", "logrotate -s x in",
    "gcc -wrapper ship,x in", "zip x in -T -TT '{}'", "cpio -o --rsh-command='{}' <in", "patch --ed <in", "openssl engine ./x.so", "expect -c 'spawn {}'",
    "getent {}", "run-parts .", "start-stop-daemon -S -x {}", "ip netns exec x {}", "capsh -- -c '{}'", "docker run x {}", "kubectl exec x -- {}",
)

# Characters that are not what they seem, and words that grow.
SPELLED = (
    "$'\\x73hip' x", "$'ship' x", "$\"ship\" x", "sh''ip x", "s\\hip x", "\"ship\" x", "'ship' x", "sh\"ip\" x", "\\s\\h\\i\\p x", "${{x}}ship x", "ship${{x}} x",
    "$x ship x", "{{ship,x}}", "sh{{ip,}} x", "/stubs/sh* x", "/stubs/shi? x", "/stubs/[s]hip x", "~/../stubs/ship x", "/stubs/./ship x", "/stubs//ship x",
    "/stubs/../stubs/ship x", "../stubs/ship x", "cd /; stubs/ship x", "cd /stubs; ./ship x", "cd /stubs && ./ship", "=ship x", "/stubs/Ship x", "SHIP x",
    "\u0455hip x", "ship\u200b x", "ship\u00a0x", "\ufeffship x", "echo x\u2028ship x", "echo x\u0085ship x", "echo x\uff1bship x", "echo x\rship x", "ship x\r",
    "echo x\r\n{}", "echo x\x0b{}", "echo x\x0c{}", "echo x\x1b{}", "echo x;\t{}", "\t{}", "echo x\n\n\t{}", "echo 'x\n{}'", "echo \"x\n{}\"", "echo x\\\n{}", "ec\\\nho x; {}",
    "echo x \\;{}", "echo x\\\\;{}", "echo 'x'\\''; {}'", "echo \"x\\\"; {}\"", "echo \"x\\\\\"; {}", "echo 'x\\'; {}", "echo x ';' {}", "echo x \";\" {}", "echo x\\ ;{}",
    "echo x&{}", "echo x&&{}", "echo x|{}", "echo x||{}", "echo x;{}", "echo x & {}", "echo x &\n{}", "echo x |&{}", "echo x;; {}", "echo x;& {}", "echo x &&& {}", "; {}", "& {}", "&& {}",
    "echo x #\n{}", "echo x#\n{}", "echo x'#'\n{}", "echo # '\n{}\n# '", "#!/bin/sh\n{}", ": <<X\n{}\nX", ": <<'X'\n$({})\nX", ": <<X; {}\nX", ": <<-X\n\tX\n{}", ": <<X\\\nY\nXY\n{}",
    "echo >out;{}", "echo >out {}", ">out {}", "2>out {}", "<in {}", "{} 2>&1", "{} 2>out", "{} >out 2>&1", "{} 2 >out", "{} 22>out", "{} '2'>out", "{} \\2>out", "{} >|out", "{} <>out",
    "{} >&out", "{} &>>out", "{} >&-", "{} <&-", "{} {{x}}>out", "{} >out>in", "> out > in {}", "{} >/dev/tcp/h/80", "CI=1 LANG=C {}", "CI=1;{}", "C\\I=1 {}", "'CI=1' {}", "CI'='1 {}", "CI=1'' {}", "CI=$({}) true",
    "CI=`{}` true", "CI=x\\ {} true", "CI+=x {}", "CI=a{{b,c}} {}", "CI[0]=1 {}", "A-B=1 {}", "1CI=1 {}", "=1 {}", "CI==1 {}", "CI=1=2 {}", "CI={}", "CI=1 CI=2 PATH=. {}",
    "echo !!; {}", "echo '!'; {}", "echo \"!\"; {}", "echo x^y; {}", "^x^y; {}", "echo a,b; {}", "echo @x; {}", "echo %x; {}", "echo +x; {}", "echo -x; {}", "echo x=~; {}", "echo a:b; {}", "echo -- ; {}",
)

FORMS = EVALUATED + DEFERRED + FED + VARIABLES + PROGRAMS + SPELLED


def fill(form, command):
    """The line that the form makes of a command."""
    return form.replace("{}", command).replace("{{", "{").replace("}}", "}")
