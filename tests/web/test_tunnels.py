"""What a service behind a tunnel can do to the browser of somebody who looks at it."""
from harness import check, people, test
from harness.bytes_service import Bytes
from web.browser import Browser
from web.test_dashboard import CONNECTED, HERE, sign_in, until_text

COOKIE = b"Set-Cookie: sojourn_session=attacker; Path=/"
# Ways to say a header that the server might not see as one, and that a browser does.
DISGUISES = (COOKIE, b"ETag\r" + COOKIE, b"ETag: a\r" + COOKIE, b"ETag: a\r\n " + COOKIE, b"ETag\r\n " + COOKIE,
             b"Set-Cookie : sojourn_session=attacker; Path=/", b"Set-Cookie\r\n : sojourn_session=attacker; Path=/",
             b"\x0b" + COOKIE, b"Refresh: 0;url=/inbox", b"Clear-Site-Data: \"*\"", b"Set-Cookie: sojourn_session=; Max-Age=0")
PAGE = b"""<!doctype html><title>inside</title><p id=said>waiting</p><script>
const tried = [];
const attempt = (name, run) => { try { run(); tried.push(name + " worked"); } catch { tried.push(name + " refused"); } };
attempt("cookie", () => { document.cookie = "sojourn_session=attacker; Path=/"; });
attempt("storage", () => localStorage.setItem("a", "b"));
attempt("top", () => { top.opener.document.body.remove(); });
const settled = [fetch("/api/me", { credentials: "include" }),
  (async () => navigator.serviceWorker.register("sw.js"))()];
Promise.allSettled(settled).then((all) => {
  tried.push(...all.map((one, i) => ["me", "worker"][i] + " " + (one.status === "fulfilled" ? "worked" : "refused")));
  document.querySelector("#said").textContent = tried.join(", ");
});
</script>"""


def answer(*lines):
    fields = [b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"Content-Length: %d" % len(PAGE), *lines]
    return b"\r\n".join(fields) + b"\r\n\r\n" + PAGE


@test(on=HERE, timeout_s=180)
def a_service_signs_nobody_in(env):
    """The cookie of this server stays what it is, whatever a service says, and its page is a stranger's."""
    service = Bytes(answer())
    server = env.server(options=["--tunnel-hosts", service.host()])
    client = server.client()
    path = people.session(client, agent="nobody")
    client.post(path + "/tunnels", {"name": "web", "url": f"http://{service.host()}/"}, expect=201)
    with Browser() as browser:
        sign_in(browser, server)
        before = browser.cookies()
        check.true(any(one["name"] == "sojourn_session" for one in before), "signed in")
        browser.goto(f"{server.address}{path}/proxy/web/")
        until_text(browser, "#said", "cookie refused, storage refused, top refused, me refused, worker refused")
        for line in DISGUISES:
            service.answer = answer(line)
            browser.goto(f"{server.address}{path}/proxy/web/")
            check.equal(browser.cookies(), before, f"after {line}")
            check.contains(browser.url(), "/proxy/web/")
        browser.goto(server.address + "/sessions")
        browser.see(CONNECTED)
