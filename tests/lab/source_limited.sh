#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Planted: a source that offers 10000 frames a second to a path that carries many times as many.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq

# shellcheck disable=SC2119
lab_up || exit 1
planted "source at 10000 pps" source_limited - source --rate 10000
