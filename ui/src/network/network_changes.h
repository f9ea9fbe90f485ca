#pragma once

#include <QStringList>
#include <set>

namespace ui {

/// Lines of `now`, from 1, that `before` does not have in the same order; where lines are missing,
/// the one below them. Long stretches that differ count as changed altogether.
std::set<int> changedLines(const QStringList& before, const QStringList& now);

}  // namespace ui
