"""A worker in Python's standard library: claims tasks, keeps their leases alive, and completes them.

    python3 examples/worker.py --once        # work until the queue is empty, then stop
"""
import json
import os
import sys
import threading
import urllib.error
import urllib.request

URL = os.environ.get("ASYNCGATE_URL", "http://127.0.0.1:8420")
KEY = os.environ.get("ASYNCGATE_API_KEY")
WORKER = "python-worker-1"
LEASE_SECONDS = 30


def call(path, body):
    headers = {"content-type": "application/json"}
    if KEY:
        headers["authorization"] = "Bearer " + KEY
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=90) as reply:
        return json.load(reply)


def keep_alive(task, done):
    """Renews the lease at a third of its length, from a thread that the work cannot block."""
    while not done.wait(LEASE_SECONDS / 3):
        try:
            call("/v1/leases/renew", {"worker_id": WORKER, "task_id": task["task_id"], "lease_id": task["lease_id"]})
        except urllib.error.HTTPError as error:
            if error.code == 409:  # lost or canceled: whoever works must stop
                done.set()


def work(task):
    """The work itself: here, counting words."""
    return {"words": len(str(task["payload"].get("text", "")).split())}


def handle(task):
    held = {"worker_id": WORKER, "lease_id": task["lease_id"]}
    done = threading.Event()
    threading.Thread(target=keep_alive, args=(task, done), daemon=True).start()
    try:
        result = work(task)
        call(f"/v1/tasks/{task['task_id']}/complete", {**held, "result": result, "store_result": True})
        print("completed", task["task_id"], result, flush=True)
    except urllib.error.HTTPError as error:
        print("refused", task["task_id"], error.read().decode(), flush=True)
    except Exception as error:  # whatever the work raises is a failed attempt
        failure = {"code": type(error).__name__, "message": str(error)}
        call(f"/v1/tasks/{task['task_id']}/fail", {**held, "error": failure})
        print("failed", task["task_id"], failure, flush=True)
    finally:
        done.set()


def main(once):
    claim = {
        "worker_id": WORKER,
        "accept_types": ["count.words"],
        "lease_ttl_seconds": LEASE_SECONDS,
        "wait_seconds": 0 if once else 60,
    }
    while True:
        tasks = call("/v1/leases/claim", claim)["tasks"]
        for task in tasks:
            handle(task)
        if once and not tasks:
            return


main(once="--once" in sys.argv)
