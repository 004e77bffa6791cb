"""Users, tokens and tenants for tests about who may do what."""
import secrets


class Person:
    """A user of a tenant and a client with one of his tokens. `secret` is that of his one-time sign-in link."""

    def __init__(self, id, email, client, secret=None):
        self.id = id
        self.email = email
        self.client = client
        self.secret = secret


def person(owner, name, role="member", **token):
    """A new user, made by the client of an owner; `token` are further members of his token's request."""
    email = f"{name}@example.test"
    user = owner.post("/api/users", {"email": email, "name": name, "role": role}, expect=201).json()
    made = owner.post("/api/tokens", {"name": name, "user_id": user["id"], **token}, expect=201).json()
    return Person(user["id"], email, owner.with_token(made["token"]), user["sign_in_secret"])


def token(owner, **body):
    """A client with a new token, made by the client of an owner."""
    return owner.with_token(owner.post("/api/tokens", {"name": "t", **body}, expect=201).json()["token"])


def tenant(operator, id):
    """A second tenant; its owner is a Person who is nowhere else, and nobody else is there."""
    made = operator.post("/api/tenants", {"id": id}, expect=201).json()
    owner = person(operator.with_token(made["token"]), f"{id}-{secrets.token_hex(3)}", "owner")
    owner.client.delete(f"/api/users/{operator.get('/api/me').json()['user_id']}", expect=204)
    return owner


def session(client, **body):
    """The path of a new session."""
    made = client.post("/api/sessions", {"type": "agent", **body}, expect=201).json()
    return f"/api/sessions/{made['id']}"
