#pragma once

#include <QString>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"

namespace ui {

/// Goes on with those of these runs that were stopped, in processes that outlive this one: a
/// comparison in one, any other run in one each. They do what `program resume` does, and append
/// their errors to train-on.log in the folder of the history. False if one cannot be started.
bool trainOn(const QString& program, const engine::RunStore& store,
             const std::vector<std::string>& runs);

}  // namespace ui
