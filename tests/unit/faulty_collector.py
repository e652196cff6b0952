"""A process that speaks the check protocol and misbehaves on command: the fault injector of the supervisor's tests.

It judges nothing. `check --fd N` answers each question as its `do` says; `validate --config F` does what F says.
A text `crash/invalid` makes the first crash and the second call it invalid.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path


def misbehave(what):
    if what == "crash":
        print("panic: on command\n\ngoroutine 1 [running]:", file=sys.stderr, flush=True)
        os._exit(2)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if what == "hang":
        time.sleep(3600)
    if what == "grow":
        held = []
        while True:
            held.append(bytearray(1 << 24))


def touch(path):
    try:
        with Path(path).open("r" if Path(path).exists() else "w"):
            return "read"
    except OSError as error:
        return error.strerror


def check(channel):
    if Path(__file__).with_name("crash-at-start").exists():
        misbehave("crash")
    answers = os.fdopen(os.dup(channel), "wb", buffering=0)
    questions = os.fdopen(channel, "rb")
    answers.write(b'{"ready": true, "version": "0.0.0", "ottl_version": "v0.0.0"}\n')
    for calls, line in enumerate(questions, start=1):
        question = json.loads(line)
        what = question.get("do") or question.get("yaml", "answer").partition("/")[0]
        answer = {"id": question["id"], "rss_bytes": question.get("rss_bytes", 0), "calls": calls}
        misbehave(what)
        if what == "garbage":
            answers.write(b"\x00 not json\n")
        elif what == "list":
            answers.write(b"[]\n")
        elif what == "deep":
            answers.write(b'{"id": 1, "result": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}\n")
        elif what == "other_id":
            answers.write(json.dumps({**answer, "id": -1, "result": {}}).encode() + b"\n")
        elif what == "no_usage":
            answers.write(json.dumps({"id": question["id"], "result": {}}).encode() + b"\n")
        elif what == "flood":
            while True:
                answers.write(b"x" * 65536)
        elif what in ("refused", "panicked", "too_costly"):
            answers.write(json.dumps({**answer, "error": {"code": what, "message": "on command"}}).encode() + b"\n")
        elif what == "not_utf8":
            answers.write(b'{"id": 1, "result": {"echo": "\xff"}}\n')
        elif what.startswith("half"):
            answers.write(b'{"id": ')
            if what == "half":
                os._exit(0)
            if what == "half_closed":
                answers.close()
                questions.close()
            time.sleep(3600)
        else:
            if what == "chatter":
                sys.stderr.write("x" * 1_000_000)
                sys.stdout.write('{"id": 1, "result": {}}\n' * 1000)
                sys.stdout.flush()
            time.sleep(question.get("seconds", 0))
            touched = [touch(path) for path in question.get("touch", [])]
            result = {
                "touched": touched,
                "pid": os.getpid(),
                "echo": question.get("echo"),
                "environment": dict(os.environ),
            }
            answers.write(json.dumps({**answer, "result": result}).encode() + b"\n")


def validate(path):
    what = Path(path).read_text().rpartition("/")[2]
    misbehave(what)
    if what == "invalid":
        print("Error: service: has no pipelines\nsecond line", file=sys.stderr)
        print("2026/11/20 22:16:55 collector server run finished with error: service: has no", file=sys.stderr)
        sys.exit(1)
    if what == "chatter":
        print("x" * 1_000_000, file=sys.stderr)
    if what == "unreasoned":
        sys.exit(1)
    if what == "environment":
        print(f"Error: {json.dumps(dict(os.environ))}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(int(sys.argv[3]))
    elif sys.argv[1] == "validate":
        validate(sys.argv[3])
