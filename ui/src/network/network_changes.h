#pragma once

#include <QStringList>
#include <set>

namespace ui {

/// Lines of `now`, from 1, that `before` does not have in the same order; with `missing`, the one
/// below each place where lines are missing as well. Long stretches that differ count as changed
/// altogether.
std::set<int> changedLines(const QStringList& before, const QStringList& now, bool missing = true);

}  // namespace ui
