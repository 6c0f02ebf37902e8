#!/usr/bin/env bash
# Starts a form backend from a fresh clone: installs, builds, makes a first endpoint and serves it. A later run only serves. Takes the flags
# of `formsvc serve`.
source "$(dirname "$0")/install.sh"
install_packages
build_executable

# The flags that commands share with `serve`, and the flags that say where it listens.
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

# The address of this server, whether its dashboard is on, and whether the dashboard has its own address.
read -r address dashboard apart <<<"$(formsvc config show | HOST="$host" PORT="$port" node -e '
  const { server, dashboard } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const wildcards = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const named = process.env.HOST || server.host;
  const host = wildcards[named] ?? named;
  const address = `http://${host.includes(":") ? `[${host}]` : host}:${process.env.PORT || server.port}`;
  console.log(address, dashboard.enabled, dashboard.listen !== null)')"

is_new=""
if ! endpoints="$(formsvc endpoint list --quiet 2>/dev/null)" || [ -z "$endpoints" ]; then
  is_new=yes
  # The keys are kept in variables and printed once; they are never written to disk.
  keys="$(formsvc endpoint create --name "My first form" --schema - --env <<'SCHEMA'
{
  "name": { "type": "string", "required": true },
  "email": { "type": "string", "required": true, "format": "email" },
  "message": { "type": "string" }
}
SCHEMA
)"
  eval "$keys"
  cat <<TEXT

Your first endpoint is $FORMSVC_ENDPOINT_ID. Its keys are shown this once and cannot be recovered:

  secret       $FORMSVC_SECRET_KEY   (servers only)
  publishable  $FORMSVC_PUBLISHABLE_KEY   (web pages)

Post to it from another terminal:

  curl $address/submit \\
    -H 'Authorization: Bearer $FORMSVC_SECRET_KEY' \\
    -H 'Content-Type: application/json' \\
    -d '{"name":"Ada","email":"ada@example.com","message":"Hello"}'

The plan above bounds what is accepted in a month: what comes beyond is held. On your own machine you decide. For more:

  ./dist/formsvc workspace set-plan business${shared[*]:+ ${shared[*]}}

or change plans in the configuration, in which null is unlimited.

See posts arrive:

  ./dist/formsvc submission tail --follow${shared[*]:+ ${shared[*]}}

TEXT
fi

# On a terminal, the server itself prints such a link, which would replace this one.
if [ "$dashboard" = true ] && ! { [ -t 0 ] && [ -t 1 ] && [ -t 2 ]; }; then
  if [ -n "$is_new" ]; then
    base=()
    if [ -n "$host$port" ] && [ "$apart" = false ]; then base=(--base-url "$address"); fi
    owner="$(formsvc account list --json | node -e '
      console.log(JSON.parse(require("fs").readFileSync(0, "utf8")).data[0].email)')"
    cat <<TEXT
Open the dashboard, as soon as the server below listens. This link sets the password of $owner; it works once, for 30 minutes:

  $(formsvc account sign-in-link "$owner" --quiet "${base[@]}")

TEXT
  else
    cat <<TEXT

For a link that opens the dashboard, and sets the password of an account:

  ./dist/formsvc account sign-in-link EMAIL${shared[*]:+ ${shared[*]}}

TEXT
  fi
fi
exec ./dist/formsvc serve "$@"
