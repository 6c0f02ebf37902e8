#!/usr/bin/env bash
# From a fresh clone to a running form backend: installs, builds, makes a first endpoint and serves it. Run again, it
# just serves. Takes the flags of `formsvc serve`.
source "$(dirname "$0")/install.sh"
install_packages
build_executable

# The flags that commands share with `serve`, and those that say where it will listen.
shared=() host="" port=""
flags=("$@")
for ((at = 0; at < ${#flags[@]}; at++)); do
  flag="${flags[at]}"
  if [[ "$flag" == --*=* ]]; then value="${flag#*=}"; else value="${flags[at + 1]:-}"; fi
  case "${flag%%=*}" in
    --db | --config) shared+=("${flag%%=*}" "$value") ;;
    --host) host="$value" ;;
    --port) port="$value" ;;
  esac
done

formsvc() { ./dist/formsvc "$@" "${shared[@]}"; }

if ! endpoints="$(formsvc endpoint list --quiet 2>/dev/null)" || [ -z "$endpoints" ]; then
  # Kept in variables and printed once; nothing writes them to disk.
  keys="$(formsvc endpoint create --name "My first form" --schema - --env <<'SCHEMA'
{
  "name": { "type": "string", "required": true },
  "email": { "type": "string", "required": true, "format": "email" },
  "message": { "type": "string" }
}
SCHEMA
)"
  eval "$keys"
  address="$(formsvc config show | HOST="$host" PORT="$port" node -e '
    const { server } = JSON.parse(require("fs").readFileSync(0, "utf8"));
    const host = process.env.HOST || server.host;
    console.log(`http://${host.includes(":") ? `[${host}]` : host}:${process.env.PORT || server.port}`)')"
  cat <<TEXT

Your first endpoint is $FORMSVC_ENDPOINT_ID. Its keys are shown this once and cannot be recovered:

  secret       $FORMSVC_SECRET_KEY   (servers only)
  publishable  $FORMSVC_PUBLISHABLE_KEY   (web pages)

Post to it from another terminal:

  curl $address/submit \\
    -H 'Authorization: Bearer $FORMSVC_SECRET_KEY' \\
    -H 'Content-Type: application/json' \\
    -d '{"name":"Ada","email":"ada@example.com","message":"Hello"}'

The plan above bounds what is accepted in a month. For more:

  ./dist/formsvc workspace set-plan business${shared[*]:+ ${shared[*]}}

See posts arrive:

  ./dist/formsvc submission tail --follow${shared[*]:+ ${shared[*]}}

TEXT
fi
exec ./dist/formsvc serve "$@"
