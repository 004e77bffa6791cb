"""Signing in as a browser does: cookies and their csrf value."""

PASSWORD = "correct horse battery staple"


def signed_in(server, answer):
    """A client that acts as the browser would after this sign-in answer."""
    name, _, value = answer.header("set-cookie").split(";")[0].partition("=")
    client = server.anonymous()
    client.extra_headers = [("Cookie", f"{name}={value}"), ("X-CSRF-Token", answer.json()["csrf_token"])]
    return client


def with_password(server, someone):
    """Sets the password of a Person by his link; returns the browser that did it."""
    browser = signed_in(server, server.anonymous().post("/api/auth/link", {"secret": someone.secret}, expect=200))
    browser.put("/api/me/password", {"password": PASSWORD}, expect=204)
    return browser


def sign_in(server, email, password=PASSWORD, expect=200):
    return server.anonymous().post("/api/auth/sign-in", {"email": email, "password": password}, expect=expect)
