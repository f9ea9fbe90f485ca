#include "tryit/scene_table.h"

#include <QPainter>
#include <QPixmap>
#include <algorithm>
#include <cmath>

#include "theme/tokens.h"
#include "tryit/tried_model.h"

namespace ui {

SceneTable::SceneTable(const SceneLens* lens, QObject* parent) : RowModel(parent), lens_(lens) {}

void SceneTable::show(const std::vector<SceneObject>* objects, std::vector<SceneRun> runs,
                      std::vector<std::string> classes) {
    beginResetModel();
    objects_ = objects;
    runs_ = std::move(runs);
    classes_ = std::move(classes);
    columns_ = {{tr("Object"),
                 [this](int object) {
                     return className(classes_, static_cast<std::size_t>(at(object).label - 1));
                 }},
                {tr("Size"), [this](int object) {
                     const auto& box = at(object).box;
                     return tr("%1 × %2").arg(std::lround(box[2])).arg(std::lround(box[3]));
                 }}};
    for (std::size_t run = 0; run < runs_.size(); ++run) {
        const QString head = runs_.size() == 1 ? tr("Score") : runs_[run].title;
        columns_.push_back(
            {head, [this, run](int object) { return scoreText(object, run); }, true});
    }
    if (runs_.size() > 1)
        columns_.push_back({QString(), [this](int object) { return note(object); }});
    endResetModel();
    choose();
}

void SceneTable::choose() {
    std::vector<int> rows;
    for (int i = 0; objects_ != nullptr && i < static_cast<int>(objects_->size()); ++i) {
        if (lens_->shows(at(i).label) && at(i).runsFrom(lens_->score()) > 0) rows.push_back(i);
    }
    if (rows != allRows()) return setRows(std::move(rows));
    // A score that falls below the slider changes its text, but not the list.
    if (!rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int SceneTable::rowOf(int object) const {
    const auto found = std::ranges::find(allRows(), object);
    return found == allRows().end() ? -1 : static_cast<int>(found - allRows().begin());
}

QString SceneTable::scoreText(int object, std::size_t run) const {
    const SceneObject& each = at(object);
    if (!runs_[run].answered) return {};
    if (!each.found[run]) return tr("none");
    const QString score = QString::number(each.scores[run], 'f', 2);
    return each.scores[run] >= lens_->score() ? score : tr("below: %1").arg(score);
}

QString SceneTable::note(int object) const {
    return at(object).runsFrom(lens_->score()) == 1 ? tr("Only one run has it") : QString();
}

QVariant SceneTable::value(const int& object, int column, int role) const {
    if (role == Qt::UserRole) return object;
    if (role != Qt::DecorationRole || column != 0) return {};
    QPixmap mark(size::mark, size::mark);
    mark.fill(classColor(at(object).label));
    return mark;
}

}  // namespace ui
