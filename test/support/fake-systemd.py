"""What systemd does for a service: listens on a socket that outlives it, starts it with that as descriptor 3, restarts
it when told on standard input, and prints what it is told over the notification socket."""

import os
import socket
import subprocess
import sys
import threading

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(4096)
news = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
news.bind(sys.argv[1])


def say(*words):
    print(*words, flush=True)


def hear():
    while True:
        message = news.recv(4096).decode()
        if "=1" in message and not message.startswith("BARRIER"):
            say("NEWS", message.strip())


def start():
    def pass_socket():
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)

    environment = {
        **os.environ,
        "LISTEN_FDS": "1",
        "NOTIFY_SOCKET": sys.argv[1],
        "WATCHDOG_USEC": "400000",
    }
    command = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *sys.argv[2:]]
    return subprocess.Popen(command, preexec_fn=pass_socket, close_fds=False, env=environment, stdout=sys.stderr)


say("PORT", listener.getsockname()[1])
threading.Thread(target=hear, daemon=True).start()
service = start()
for line in sys.stdin:
    if line.strip() == "restart":
        service.terminate()
        say("EXITED", service.wait())
        service = start()
service.terminate()
say("EXITED", service.wait())
