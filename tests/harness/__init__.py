"""What the black-box tests stand on: real servers, real engines, clients that control every byte.

A test file begins with

    from harness import check, test

    @test
    def test_a_session_is_created(server):
        session = server.client().post("/api/sessions", {"type": "agent"}, expect=201).json()
        check.equal(session["status"], "draft")

and is found by tests/run when it is called tests/<suite>/test_<noun>.py. Standard library only.
"""
from harness import check
from harness.check import Failure, Skip
from harness.client import Client, Connection, Response
from harness.server import Server
from harness.suite import EVERYWHERE, OPTIMISED, Env, test

__all__ = ["EVERYWHERE", "OPTIMISED", "Client", "Connection", "Env", "Failure", "Response", "Server", "Skip", "check",
           "test"]
