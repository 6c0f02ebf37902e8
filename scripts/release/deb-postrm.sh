#!/bin/sh
set -e

if [ -d /run/systemd/system ] && [ "$1" != upgrade ]; then
	systemctl --system daemon-reload >/dev/null || true
fi

if [ "$1" = remove ] && command -v deb-systemd-helper >/dev/null; then
	deb-systemd-helper mask formsvc.socket formsvc.service >/dev/null || true
fi

if [ "$1" = purge ]; then
	if command -v deb-systemd-helper >/dev/null; then
		deb-systemd-helper purge formsvc.socket formsvc.service >/dev/null || true
		deb-systemd-helper unmask formsvc.socket formsvc.service >/dev/null || true
	fi
	for data in /var/lib/formsvc /var/lib/private/formsvc; do
		if [ -d "$data" ] && [ ! -L "$data" ]; then
			echo "formsvc: the submissions are kept in $data; to delete them: rm -r $data"
		fi
	done
fi
