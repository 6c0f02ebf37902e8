#!/usr/bin/env bash
# From a fresh clone to a running form backend: installs, builds, makes a first endpoint and serves it. Run again, it
# just serves. Takes the flags of `formsvc serve`.
source "$(dirname "$0")/install.sh"
install_packages
build_executable

if [ "$(./dist/formsvc endpoint list --quiet | wc -l)" -eq 0 ]; then
  # Kept in variables and printed once; nothing writes them to disk.
  eval "$(./dist/formsvc endpoint create --name "My first form" --schema - --env --quiet <<'SCHEMA'
{
  "name": { "type": "string", "required": true },
  "email": { "type": "string", "required": true, "format": "email" },
  "message": { "type": "string" }
}
SCHEMA
)"
  url="http://127.0.0.1:${FORMSVC_SERVER_PORT:-8787}"
  cat <<TEXT

Your first endpoint is $FORMSVC_ENDPOINT_ID. Its keys are shown this once and cannot be recovered:

  secret       $FORMSVC_SECRET_KEY   (servers only)
  publishable  $FORMSVC_PUBLISHABLE_KEY   (web pages)

Post to it from another terminal:

  curl $url/submit \\
    -H 'Authorization: Bearer $FORMSVC_SECRET_KEY' \\
    -H 'Content-Type: application/json' \\
    -d '{"name":"Ada","email":"ada@example.com","message":"Hello"}'

and see it arrive:

  ./dist/formsvc submission tail --follow

TEXT
fi
exec ./dist/formsvc serve "$@"
