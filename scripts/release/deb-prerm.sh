#!/bin/sh
set -e

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	deb-systemd-invoke stop formsvc.socket formsvc.service >/dev/null || true
fi
