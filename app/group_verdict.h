#pragma once

#include "engine/runs/run_group.h"

namespace app {

/// Prints how the runs of a comparison did beside its first one: the verdict on each of the first
/// seed. Nothing for a sweep, or for a run alone. Throws Error(data) for a record that cannot be
/// read.
void print_verdicts(const engine::GroupRuns& runs);

}  // namespace app
