/* Attempts to get out of a sandbox or to take more than it may, with the real bubblewrap. */
#include "runner/sandbox_scene.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>

static const struct sandbox_settings plain = {.kind = SANDBOX_LOCAL};

static char secret_path[] = "/var/tmp/sojourn-host-secret-XXXXXX";

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void test_work_in_the_workspace(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    char path[256];
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "pwd; id -un; echo hello >file; echo t >/tmp/t; echo h >$HOME/h; uname -n", &ran);
    assert_bytes(buffer_slice(&ran.out), "/workspace\nagent\nsandbox\n");
    assert_int_equal(ran.end.exit_code, 0);
    ran_release(&ran);
    scene_sh(&scene, sandbox, "cat file /tmp/t ~/h", &ran); /* what one command left, the next one finds */
    assert_bytes(buffer_slice(&ran.out), "hello\nt\nh\n");
    ran_release(&ran);
    snprintf(path, sizeof path, "%.*s/file", SLICE_ARG(sandbox_root(sandbox)));
    assert_true(exists(path)); /* and tools of the server see it */
    struct heard heard;
    scene_finish(&scene, sandbox, false, &heard);
    assert_int_equal(heard.news.outcome, SANDBOX_OK);
    assert_false(exists(path));
    scene_end(&scene);
}

/* Each script prints "escaped" when it got what it wanted. */
static const struct {
    const char *what, *script;
} attempts[] = {
    {"shadow", "cat /etc/shadow && echo escaped"},
    {"host secret", "cat $SECRET_PATH && echo escaped"},
    {"data directory", "ls $DATA && echo escaped"},
    {"home of root", "ls -d /ro?t /home/[!a]* 2>/dev/null && echo escaped"},
    {"upwards", "cat ../../../../../../..$SECRET_PATH && echo escaped"},
    {"link", "ln -s $SECRET_PATH link; cat link && echo escaped"},
    {"link to the root", "ln -s / root; cat root$SECRET_PATH && echo escaped"},
    {"root of pid 1", "cat /proc/1/root$SECRET_PATH && echo escaped"},
    {"directory of pid 1", "cat /proc/1/cwd$SECRET_PATH && echo escaped"},
    {"write system", "touch /usr/bin/x && echo escaped"},
    {"write etc", "touch /etc/x || echo a >>/etc/passwd && echo escaped"},
    {"write root", "touch /x && echo escaped"},
    {"write dev", "touch /dev/x && echo escaped"},
    {"kernel settings", "cat /proc/sys/kernel/hostname >/proc/sys/kernel/hostname && echo escaped"},
    {"core pattern", "cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern && echo escaped"},
    {"sysrq", "echo h >/proc/sysrq-trigger && echo escaped"},
    {"disk devices", "ls /dev/vda /dev/sda /dev/mem /dev/kmsg /sys/class 2>/dev/null && echo escaped"},
    {"make device", "mknod /tmp/m c 1 1 && echo escaped"},
    {"mount", "mount -t tmpfs none /tmp && echo escaped"},
    {"new user namespace", "unshare -U true && echo escaped"},
    {"new mount namespace", "unshare -rm true && echo escaped"},
    {"host pid", "kill -0 $HOST_PID && echo escaped"},
    {"other processes", "test $(ls /proc | grep -c '^[0-9]') -gt 10 && echo escaped"},
    {"environment of others", "cat /proc/*/environ | tr '\\0' '\\n' | grep hunter2 && echo escaped"},
    {"own environment", "env | grep -E 'hunter2|SECRET_OF' && echo escaped"},
    {"capabilities", "grep -E 'Cap(Eff|Prm|Bnd).*[1-9a-f]' /proc/self/status && echo escaped"},
    {"new privileges", "grep 'NoNewPrivs:.0' /proc/self/status && echo escaped"},
    {"no filter", "grep 'Seccomp:.0' /proc/self/status && echo escaped"},
    {"network devices", "grep -vE '^Inter|face|lo:' /proc/net/dev && echo escaped"},
    {"private keys", "ls /etc/ssl/private && echo escaped"},
    {"keys of the kernel", "cat /proc/kcore | head -c 1 | grep . && echo escaped"},
    {"descriptors", "ls -l /proc/self/fd | grep -vE 'pipe|/dev/null|/proc/|^total' && echo escaped"},
};

static void test_no_way_out(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    char secret[128], data[128], host[64];
    scene_begin(&scene);
    setenv("SECRET_OF_THE_SERVER", "hunter2", 1);
    snprintf(secret, sizeof secret, "SECRET_PATH=%s", secret_path);
    snprintf(data, sizeof data, "DATA=%s", scene.data);
    snprintf(host, sizeof host, "HOST_PID=%d", (int)getpid());
    const char *environment[] = {secret, data, host, NULL};
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    for (size_t i = 0; i < COUNT_OF(attempts); i++) {
        const char *argv[] = {"/bin/sh", "-c", attempts[i].script, NULL};
        (void)scene_start(&scene, sandbox, (struct process_spec){.argv = argv, .environment = environment}, &ran);
        scene_wait(&scene, &ran.done);
        if (memmem(ran.out.ptr ? ran.out.ptr : "", ran.out.len, "escaped", 7)) {
            fail_msg("%s: %.*s", attempts[i].what, (int)ran.out.len, ran.out.ptr);
        }
        assert_lacks(ran.out, "hunter2");
        assert_lacks(ran.out, "the host's secret");
        ran_release(&ran);
    }
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

/* --- network --- */

static int listen_here(unsigned *out_port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *out_port = ntohs(address.sin_port);
    return fd;
}

static void test_network_only_when_granted(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    unsigned port;
    char script[200];
    scene_begin(&scene);
    int fd = listen_here(&port);
    snprintf(script, sizeof script, "bash -c 'exec 3<>/dev/tcp/127.0.0.1/%u && echo reached'", port);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, script, &ran);
    assert_lacks(ran.out, "reached");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    struct sandbox_settings granted = {.kind = SANDBOX_LOCAL, .network = true};
    sandbox = scene_sandbox(&scene, &granted);
    scene_sh(&scene, sandbox, script, &ran);
    assert_has(ran.out, "reached");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    close(fd);
    scene_end(&scene);
}

/* --- limits --- */

static void test_fork_bomb(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    scene_begin(&scene);
    struct sandbox_settings few = {.kind = SANDBOX_LOCAL, .processes_max = 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &few);
    /* one that gives up by itself, for the sake of the machine in case this fails */
    scene_sh(&scene, sandbox, "for i in $(seq 400); do sleep 3 & done; sleep 3; echo made $(jobs -p | wc -l)", &ran);
    assert_lacks(ran.out, "made 400");
    assert_true(ran.err.len > 0);
    assert_int_equal(ran.ends, 1);
    ran_release(&ran);
    scene_sh(&scene, sandbox, "ls /proc | grep -c '^[0-9]'", &ran); /* nothing of it lives on */
    assert_true(number_of(buffer_slice(&ran.out)) < 10);
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

static void test_memory_hog(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    scene_begin(&scene);
    struct sandbox_settings little = {.kind = SANDBOX_LOCAL, .memory_bytes_max = 64 << 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &little);
    scene_sh(&scene, sandbox, "head -c 300000000 /dev/zero | tail -n 1 | wc -c; echo through $?", &ran);
    assert_lacks(ran.out, "300000000");
    ran_release(&ran);
    /* many small ones together */
    scene_sh(&scene, sandbox,
             "for i in 1 2 3 4 5 6; do (head -c 30000000 /dev/zero | tail -n 1 | (sleep 5; cat) >/dev/null) & done; "
             "wait; echo through",
             &ran);
    assert_lacks(ran.out, "through");
    assert_has(ran.err, "memory limit");
    ran_release(&ran);
    scene_sh(&scene, sandbox, "head -c 100000000 /dev/zero >/dev/shm/x; stat -c %s /dev/shm/x", &ran);
    assert_true(number_of(buffer_slice(&ran.out)) <= 64 << 20);
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

static void test_disk_filler(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    scene_begin(&scene);
    struct sandbox_settings small = {.kind = SANDBOX_LOCAL, .disk_bytes_max = 8 << 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &small);
    scene_sh(&scene, sandbox, "head -c 20000000 /dev/zero >one", &ran);
    ran_release(&ran);
    for (bool seen = false; !seen; ran_release(&ran)) { /* the look that finds it full may stop this one, too */
        scene_sh(&scene, sandbox, "stat -c %s one", &ran);
        seen = ran.end.exit_code == 0;
        /* one file can't be larger than all may be */
        assert_true(!seen || number_of(buffer_slice(&ran.out)) <= 8388608);
    }
    scene_sh(&scene, sandbox, "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero >f$i; sleep 0.2; done", &ran);
    assert_int_equal(ran.end.signal, SIGKILL);
    assert_has(ran.err, "disk limit");
    ran_release(&ran);
    scene_sh(&scene, sandbox, "rm -f one f*; sleep 1; echo cleaned", &ran); /* less is always allowed */
    assert_has(ran.out, "cleaned");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

/* Directories so deep that no path leads there, and entries without a byte, count like all others. */
static void test_hidden_disk_filler(void **state)
{
    (void)state;
    static const char deep[] =
        "n=$(head -c 250 /dev/zero | tr '\\0' d); for i in $(seq %d); do mkdir $n && cd -P $n || "
        "exit 3; done; i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero >f$i; sleep 0.2; done";
    struct scene scene = {0};
    struct ran ran;
    char command[400];
    scene_begin(&scene);
    struct sandbox_settings small = {.kind = SANDBOX_LOCAL, .disk_bytes_max = 8 << 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &small);
    const struct {
        int levels;
        const char *why;
    } trees[] = {{40, "disk limit"}, {400, "depth limit"}};
    for (size_t i = 0; i < 2; i++) {
        snprintf(command, sizeof command, deep, trees[i].levels);
        scene_sh(&scene, sandbox, command, &ran);
        assert_int_equal(ran.end.signal, SIGKILL);
        assert_has(ran.err, trees[i].why);
        ran_release(&ran);
        for (bool cleaned = false; !cleaned; ran_release(&ran)) { /* what is too deep may stop this one, too */
            scene_sh(&scene, sandbox, "rm -rf d*", &ran);
            cleaned = ran.end.exit_code == 0;
        }
    }
    scene_sh(&scene, sandbox, "i=0; while :; do i=$((i+1)); : >e$i; [ $((i % 500)) = 0 ] && sleep 0.1; done", &ran);
    assert_int_equal(ran.end.signal, SIGKILL);
    assert_has(ran.err, "disk limit");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

/* What its owner closed, in whatever way and however often, counts like all else. */
static void test_locked_disk_filler(void **state)
{
    (void)state;
    static const char *const locks[] = {
        "chmod 000 d/d",          "chmod 400 d/d",
        "chmod 100 d/d",          "chmod 000 d",
        "chmod 200 d; chmod 0 d", "chmod 0 d; for j in 1 2 3 4 5 6 7 8 9; do chmod 0 d/d d; done 2>/dev/null",
    };
    struct scene scene = {0};
    struct ran ran;
    char command[400];
    scene_begin(&scene);
    struct sandbox_settings small = {.kind = SANDBOX_LOCAL, .disk_bytes_max = 8 << 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &small);
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++) {
        /* it gives up by itself, for the sake of the machine in case this fails */
        snprintf(
            command, sizeof command,
            "mkdir -p d/d; for i in $(seq 60); do chmod 700 d; chmod 700 d/d; head -c 1000000 /dev/zero >d/d/$i; %s; "
            "sleep 0.2; done; echo through",
            locks[i]);
        scene_sh(&scene, sandbox, command, &ran);
        assert_lacks(ran.out, "through");
        assert_has(ran.err, "disk limit");
        ran_release(&ran);
        for (bool cleaned = false; !cleaned; ran_release(&ran)) {
            scene_sh(&scene, sandbox, "chmod 700 d; chmod 700 d/d; rm -rf d; sleep 1", &ran);
            cleaned = ran.end.exit_code == 0;
        }
    }
    scene_sh(&scene, sandbox, "mkdir -p a/b; : >a/b/c; chmod 0 a/b; chmod 0 a; sleep 2; echo lives", &ran);
    assert_has(ran.out, "lives"); /* to be closed is no crime */
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

static void run_python(struct scene *scene, struct sandbox *sandbox, const char *code, struct ran *ran)
{
    const char *argv[] = {"/usr/bin/python3", "-c", code, NULL};
    (void)scene_start(scene, sandbox, (struct process_spec){.argv = argv}, ran);
    scene_wait(scene, &ran->done);
}

/* What was deleted takes space as long as a process holds it: open, mapped, or where nobody may look. */
static void test_nameless_disk_filler(void **state)
{
    (void)state;
    static const char *const fillers[] = {
        "import os, time\nkept = []\nfor i in range(60):\n"
        "  f = os.open('x', os.O_RDWR | os.O_CREAT); os.unlink('x')\n"
        "  os.write(f, b'x' * 1000000); kept.append(f); time.sleep(0.1)\n"
        "time.sleep(3); print('through')",
        "import mmap, os, time\nkept = []\nfor i in range(60):\n"
        "  f = os.open('x', os.O_RDWR | os.O_CREAT); os.unlink('x'); os.write(f, b'x' * 1000000)\n"
        "  kept.append(mmap.mmap(f, 1000000)); os.close(f); time.sleep(0.1)\n"
        "time.sleep(3); print('through')",
        "import ctypes, os, time\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nkept = []\nfor i in range(60):\n"
        "  f = os.open('x', os.O_RDWR | os.O_CREAT); os.unlink('x')\n"
        "  os.write(f, b'x' * 1000000); kept.append(f); time.sleep(0.1)\n"
        "time.sleep(3); print('through')",
        /* the first thread is over, and another has a table of files of its own */
        "import ctypes, os, threading, time\nc = ctypes.CDLL(None)\ndef fill():\n"
        "  time.sleep(0.2); c.unshare(0x400)\n  kept = []\n  for i in range(60):\n"
        "    f = os.open('x', os.O_RDWR | os.O_CREAT); os.unlink('x')\n"
        "    os.write(f, b'x' * 1000000); kept.append(f); time.sleep(0.1)\n"
        "  time.sleep(3); print('through', flush=True)\n"
        "threading.Thread(target=fill).start(); c.pthread_exit(None)",
        "import os, time\nfor i in range(30):\n  if os.fork() == 0:\n"
        "    f = os.open('x%d' % i, os.O_RDWR | os.O_CREAT); os.unlink('x%d' % i); os.write(f, b'x' * 2000000)\n"
        "    os.setsid(); time.sleep(10); os._exit(0)\n"
        "  time.sleep(0.1)\ntime.sleep(3); print('through')",
    };
    struct scene scene = {0};
    struct ran ran;
    scene_begin(&scene);
    struct sandbox_settings small = {.kind = SANDBOX_LOCAL, .disk_bytes_max = 8 << 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &small);
    for (size_t i = 0; i < sizeof fillers / sizeof fillers[0]; i++) {
        run_python(&scene, sandbox, fillers[i], &ran);
        assert_lacks(ran.out, "through");
        assert_has(ran.err, "disk limit");
        ran_release(&ran);
    }
    run_python(&scene, sandbox,
               "import os, time\nfor i in range(20):\n  f = os.open('x', os.O_RDWR | os.O_CREAT); os.unlink('x')\n"
               "  os.write(f, b'x' * 1000000); os.close(f); time.sleep(0.1)\nprint('through')",
               &ran);
    assert_has(ran.out, "through"); /* what was closed is gone */
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

/* A /dev/shm for each command: together they are no more than what one may have. */
static void test_shm_of_many_commands(void **state)
{
    (void)state;
    enum { COMMANDS = 8 };
    const char *argv[] = {"/bin/sh", "-c", "head -c 30000000 /dev/zero >/dev/shm/x; sleep 3; echo through", NULL};
    struct scene scene = {0};
    struct ran ran[COMMANDS];
    size_t through = 0;
    scene_begin(&scene);
    struct sandbox_settings little = {.kind = SANDBOX_LOCAL, .memory_bytes_max = 128 << 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &little);
    for (size_t i = 0; i < COMMANDS; i++) {
        (void)scene_start(&scene, sandbox, (struct process_spec){.argv = argv}, &ran[i]);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        scene_wait(&scene, &ran[i].done);
        through += ran[i].out.len > 0;
        ran_release(&ran[i]);
    }
    assert_int_equal(through, 0);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

/* Memory that processes share, and memory that no process has mapped. */
static void test_shared_memory_hog(void **state)
{
    (void)state;
    static const char *const hogs[] = {
        "import mmap, time\nkept = []\nfor i in range(30):\n"
        "  m = mmap.mmap(-1, 10 << 20); m.write(b'x' * (10 << 20)); kept.append(m); time.sleep(0.05)\n"
        "time.sleep(2); print('through')",
        "import os, time\nkept = []\nfor i in range(30):\n"
        "  f = os.memfd_create('x'); os.write(f, b'x' * (10 << 20)); kept.append(f); time.sleep(0.05)\n"
        "time.sleep(2); print('through')",
        "import ctypes, time\nc = ctypes.CDLL(None); c.shmat.restype = ctypes.c_void_p\nfor i in range(30):\n"
        "  s = c.shmget(0, 10 << 20, 0o1600); assert s >= 0\n"
        "  a = c.shmat(s, None, 0); ctypes.memset(a, 1, 10 << 20); c.shmdt(ctypes.c_void_p(a)); time.sleep(0.05)\n"
        "time.sleep(2); print('through')",
        "import ctypes, time\nc = ctypes.CDLL(None)\nfor i in range(20000):\n  q = c.msgget(0, 0o1600); assert q >= 0\n"
        "  assert c.msgsnd(q, b'x' * 8200, 8192, 0o4000) == 0\ntime.sleep(2); print('through')",
        "import ctypes, mmap, threading, time\ndef fill():\n  kept = []\n  for i in range(30):\n"
        "    m = mmap.mmap(-1, 10 << 20); m.write(b'x' * (10 << 20)); kept.append(m); time.sleep(0.05)\n"
        "  time.sleep(2); print('through', flush=True)\n"
        "threading.Thread(target=fill).start(); ctypes.CDLL(None).pthread_exit(None)",
        "import mmap, os, time\nfor i in range(6):\n  if os.fork() == 0:\n"
        "    m = mmap.mmap(-1, 50 << 20); m.write(b'x' * (50 << 20)); time.sleep(3); os._exit(0)\n"
        "time.sleep(4); print('through')",
    };
    struct scene scene = {0};
    struct ran ran;
    scene_begin(&scene);
    struct sandbox_settings little = {.kind = SANDBOX_LOCAL, .memory_bytes_max = 128 << 20};
    struct sandbox *sandbox = scene_sandbox(&scene, &little);
    for (size_t i = 0; i < sizeof hogs / sizeof hogs[0]; i++) {
        run_python(&scene, sandbox, hogs[i], &ran);
        assert_lacks(ran.out, "through");
        ran_release(&ran);
    }
    /* shared by many, it counts once; a few words in a segment are what databases need */
    run_python(
        &scene, sandbox,
        "import mmap, os, time, ctypes\nm = mmap.mmap(-1, 40 << 20); m.write(b'x' * (40 << 20))\nfor i in range(5):\n"
        "  if os.fork() == 0:\n    [m[k] for k in range(0, 40 << 20, 4096)]; time.sleep(1); os._exit(0)\n"
        "time.sleep(2); assert ctypes.CDLL(None).shmget(0, 56, 0o1600) >= 0; print('through')",
        &ran);
    assert_has(ran.out, "through");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

/* --- the end of processes --- */

static void test_term_reaches_the_command(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    const char *argv[] = {"/bin/sh", "-c", "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.1; done",
                          NULL};
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    struct process *process = scene_start(&scene, sandbox, (struct process_spec){.argv = argv}, &ran);
    while (ran.out.len == 0) {
        uv_run(loop_uv(scene.loop), UV_RUN_ONCE);
    }
    process_stop(process);
    scene_wait(&scene, &ran.done);
    assert_has(ran.out, "bye");
    assert_int_equal(ran.end.exit_code, 5);
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

static void test_daemons_do_not_survive(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "setsid sh -c 'sleep 1; echo late >late' >/dev/null 2>&1 & echo started", &ran);
    assert_has(ran.out, "started");
    ran_release(&ran);
    scene_sh(&scene, sandbox, "sleep 1.5; ls", &ran);
    assert_lacks(ran.out, "late");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

static void test_terminate_with_processes_and_twice(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard first = {0}, second = {0};
    struct failure failure;
    struct process *process;
    const char *argv[] = {"/bin/sleep", "100", NULL};
    scene_begin(&scene);
    const struct sandbox_provider *local = sandboxes_provider(scene.sandboxes, SANDBOX_LOCAL);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    (void)scene_start(&scene, sandbox, (struct process_spec){.argv = argv}, &ran);
    local->terminate(local->owner, sandbox, (struct sandbox_callback){&first, hear});
    local->terminate(local->owner, sandbox, (struct sandbox_callback){&second, hear});
    struct process_handler handler = ran_handler(&ran);
    assert_status(
        process_start(scene.loop, sandbox, &(struct process_spec){.argv = argv}, &handler, &process, &failure),
        STATUS_CONFLICT);
    scene_wait(&scene, &first.done);
    scene_wait(&scene, &second.done);
    assert_int_equal(first.news.outcome, SANDBOX_OK);
    assert_int_equal(second.news.outcome, SANDBOX_GONE);
    assert_int_equal(ran.ends, 1);
    ran_release(&ran);
    scene_end(&scene);
}

/* --- what it starts from --- */

static void sh(const char *script)
{
    assert_int_equal(system(script), 0);
}

static struct sandbox *create_from(struct scene *scene, struct sandbox_settings settings, const char *workspace,
                                   struct heard *heard)
{
    struct sandbox_spec spec = {
        .tenant_key = 1, .session_key = 9, .settings = &settings, .workspace = slice_of(workspace)};
    settings.kind = SANDBOX_LOCAL;
    return scene_create(scene, spec, heard);
}

static void test_repository_by_path(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard heard;
    char script[1200], projects[128], repository[160];
    scene_data(&scene);
    snprintf(projects, sizeof projects, "%s/projects", scene.data);
    snprintf(repository, sizeof repository, "%s/one", projects);
    snprintf(script, sizeof script,
             "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
             "GIT_COMMITTER_EMAIL=a@b; mkdir -p %s && git init -q -b main %s && cd %s && echo one >f && git add f && "
             "git commit -qm one && git checkout -q -b side && echo two >f && git commit -qam two && git checkout -q "
             "main",
             projects, repository, repository);
    sh(script);
    const char *open[] = {projects, NULL};
    scene.options.projects = open;
    scene.sandboxes = sandboxes_new(&scene.options);
    struct sandbox_settings settings = {.repository = slice_of(repository), .branch = SLICE("side")};
    struct sandbox *sandbox = create_from(&scene, settings, NULL, &heard);
    assert_non_null(sandbox);
    scene_sh(&scene, sandbox, "cat f; git status --short --branch; git log --oneline | wc -l", &ran);
    assert_has(ran.out, "two\n## side");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    sandboxes_forget(scene.sandboxes, 1, 9);
    settings.branch = SLICE("nosuch");
    assert_null(create_from(&scene, settings, NULL, &heard));
    assert_string_equal(heard.news.failure.code, "sandbox_source_failed");
    assert_non_null(strstr(heard.news.failure.detail, "nosuch")); /* git's own last line */
    scene_end(&scene);
}

static void test_what_may_not_be_cloned(void **state)
{
    (void)state;
    static const struct {
        const char *repository, *code;
    } rows[] = {
        {"/etc", "project_not_open"},
        {"/var/tmp/../../etc", "project_not_open"},
        {"http://127.0.0.1/x", "bad_repository"},
        {"file:///etc", "bad_repository"},
        {"ext::sh -c id", "bad_repository"},
        {"--upload-pack=id", "bad_repository"},
        {"-oProxyCommand=id@host:x", "bad_repository"},
    };
    struct scene scene = {0};
    struct heard heard;
    scene_begin(&scene);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sandbox_settings settings = {.repository = slice_of(rows[i].repository)};
        assert_row(rows[i].repository, create_from(&scene, settings, NULL, &heard) == NULL);
        assert_row(rows[i].repository, strcmp(heard.news.failure.code, rows[i].code) == 0);
    }
    scene_end(&scene);
}

static void test_project_is_copied_and_stays_as_it_is(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    struct heard heard;
    char script[500], project[128];
    scene_data(&scene);
    snprintf(project, sizeof project, "%s/project", scene.data);
    snprintf(script, sizeof script, "mkdir %s && cd %s && echo old >f && ln -s %s link && chmod 755 f", project,
             project, secret_path);
    sh(script);
    const char *open[] = {project, NULL};
    scene.options.projects = open;
    scene.sandboxes = sandboxes_new(&scene.options);
    struct sandbox *sandbox = create_from(&scene, plain, project, &heard);
    assert_non_null(sandbox);
    scene_sh(&scene, sandbox, "cat f; cat link; echo new >f; stat -c %a f", &ran);
    assert_bytes(buffer_slice(&ran.out), "old\n755\n");
    ran_release(&ran);
    snprintf(script, sizeof script, "test \"$(cat %s/f)\" = old", project);
    sh(script);
    sandbox_give_up(sandbox);
    sandboxes_forget(scene.sandboxes, 1, 9);
    assert_null(create_from(&scene, plain, "/etc", &heard));
    assert_string_equal(heard.news.failure.code, "project_not_open");
    scene_end(&scene);
}

/* A server that was killed left the tree: the session goes on in it. */
static void test_tree_outlives_the_server(void **state)
{
    (void)state;
    struct scene scene = {0};
    struct ran ran;
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "echo kept >f", &ran);
    sandbox_give_up(sandbox);
    sandboxes_free(scene.sandboxes);
    scene.sandboxes = sandboxes_new(&scene.options);
    sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "cat f", &ran);
    assert_bytes(buffer_slice(&ran.out), "kept\n");
    ran_release(&ran);
    sandbox_give_up(sandbox);
    sandboxes_forget(scene.sandboxes, 1, 7);
    sandbox = scene_sandbox(&scene, &plain);
    scene_sh(&scene, sandbox, "ls -A", &ran);
    assert_int_equal(ran.out.len, 0);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

/* On ext4 only: elsewhere there is no such flag. */
static void test_trees_are_spread_over_the_disk(void **state)
{
    (void)state;
    struct scene scene = {0};
    char trees[256];
    struct statfs about;
    int flags = 0;
    scene_begin(&scene);
    struct sandbox *sandbox = scene_sandbox(&scene, &plain);
    snprintf(trees, sizeof trees, "%.*s/../..", SLICE_ARG(sandbox_root(sandbox)));
    int fd = open(trees, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(fstatfs(fd, &about), 0);
    if (about.f_type == EXT4_SUPER_MAGIC) {
        assert_int_equal(ioctl(fd, FS_IOC_GETFLAGS, &flags), 0);
        assert_true(flags & FS_TOPDIR_FL);
    }
    close(fd);
    sandbox_give_up(sandbox);
    scene_end(&scene);
}

static int begin(void **state)
{
    (void)state;
    int fd = mkstemp(secret_path);
    close(fd);
    write_text(secret_path, "the host's secret\n");
    return 0;
}

static int end(void **state)
{
    (void)state;
    return unlink(secret_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_in_the_workspace),
        cmocka_unit_test(test_no_way_out),
        cmocka_unit_test(test_network_only_when_granted),
        cmocka_unit_test(test_fork_bomb),
        cmocka_unit_test(test_memory_hog),
        cmocka_unit_test(test_disk_filler),
        cmocka_unit_test(test_hidden_disk_filler),
        cmocka_unit_test(test_locked_disk_filler),
        cmocka_unit_test(test_nameless_disk_filler),
        cmocka_unit_test(test_shm_of_many_commands),
        cmocka_unit_test(test_shared_memory_hog),
        cmocka_unit_test(test_term_reaches_the_command),
        cmocka_unit_test(test_daemons_do_not_survive),
        cmocka_unit_test(test_terminate_with_processes_and_twice),
        cmocka_unit_test(test_repository_by_path),
        cmocka_unit_test(test_what_may_not_be_cloned),
        cmocka_unit_test(test_project_is_copied_and_stays_as_it_is),
        cmocka_unit_test(test_tree_outlives_the_server),
        cmocka_unit_test(test_trees_are_spread_over_the_disk),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
