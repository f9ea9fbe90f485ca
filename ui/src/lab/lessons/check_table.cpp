#include "lab/lessons/check_table.h"

#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

QLabel* cell(const QString& text, const char* role, QWidget* parent) {
    auto* label = makeProse(text, role, parent);
    label->setTextFormat(Qt::PlainText);
    return label;
}

}  // namespace

CheckTable::CheckTable(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(size::inside);
    grid_->setVerticalSpacing(size::grid);
    grid_->setColumnStretch(0, 7);
    grid_->setColumnStretch(1, 4);
    grid_->setColumnStretch(2, 4);
    grid_->setColumnStretch(3, 4);
}

void CheckTable::setRows(std::vector<CheckRow> rows) {
    if (rows == rows_) return;
    rows_ = std::move(rows);
    build();
}

void CheckTable::build() {
    while (QLayoutItem* item = grid_->takeAt(0)) {
        if (item->widget() != nullptr) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    grid_->addWidget(cell(tr("you said"), "dim", this), 0, 1);
    grid_->addWidget(cell(tr("measured"), "dim", this), 0, 2);
    for (const auto& row : rows_) addRow(row);
}

void CheckTable::addRow(const CheckRow& row) {
    const int line = grid_->rowCount();
    grid_->addWidget(cell(row.question, nullptr, this), line, 0, Qt::AlignTop);
    grid_->addWidget(cell(row.said, nullptr, this), line, 1, Qt::AlignTop);
    auto* measured =
        cell(row.measured.isEmpty() ? u"…"_s : row.measured, row.final_ ? nullptr : "dim", this);
    if (row.final_) {
        QFont bold = measured->font();
        bold.setWeight(QFont::Bold);
        measured->setFont(bold);
    }
    grid_->addWidget(measured, line, 2, Qt::AlignTop);
    const char* role = !row.final_ ? "dim" : row.right ? "good" : "caution";
    const QString verdict =
        row.final_ && row.right && row.verdict.isEmpty() ? tr("as you said") : row.verdict;
    grid_->addWidget(cell(verdict, role, this), line, 3, Qt::AlignTop);
    if (!row.final_ || row.right || (row.hint.isEmpty() && row.step == 0)) return;
    auto* below = new QWidget(this);
    auto* words = makeRow(below, {0, 0, 0, size::grid});
    words->addWidget(cell(row.hint, "dim", below), 1);
    if (row.step > 0) {
        auto* show = makeLink(tr("Show me where"), below);
        connect(show, &QToolButton::clicked, this,
                [this, step = row.step] { emit showWanted(step); });
        words->addWidget(show, 0, Qt::AlignTop);
    }
    grid_->addWidget(below, line + 1, 0, 1, 4);
}

}  // namespace ui
