#!/bin/sh
# Usage: sh THIS NODE. Needs root, and nothing may run on the GPUs.
set -eu
case "${1:-}" in
{{#nodes}}
{{node}})  # {{gpu}}
{{#devices}}
  nvidia-smi -i {{index}} -mig 1
  {{create}}
{{/devices}}
  ;;
{{/nodes}}
*) echo "which node? {{node_names}}" >&2; exit 1 ;;
esac
