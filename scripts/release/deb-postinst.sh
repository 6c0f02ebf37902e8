#!/bin/sh
set -e

if [ "$1" = configure ] || [ "$1" = abort-upgrade ] || [ "$1" = abort-remove ]; then
	for unit in formsvc.socket formsvc.service; do
		deb-systemd-helper unmask "$unit" >/dev/null || true
		if deb-systemd-helper --quiet was-enabled "$unit"; then
			deb-systemd-helper enable "$unit" >/dev/null || true
		else
			deb-systemd-helper update-state "$unit" >/dev/null || true
		fi
	done
	if [ -d /run/systemd/system ]; then
		systemctl --system daemon-reload >/dev/null || true
		if [ -z "$2" ]; then
			deb-systemd-invoke start formsvc.socket formsvc.service >/dev/null || true
		else
			# The socket keeps listening meanwhile, so no post is refused. The new program upgrades the database.
			deb-systemd-invoke try-restart formsvc.service >/dev/null || true
		fi
	fi
fi
