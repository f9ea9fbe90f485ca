#include "tryit/run_columns.h"

#include <QPainter>

#include "text/format.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int dotSize = 10;

QPixmap dotOf(const QColor& color, qreal scale) {
    QPixmap pixmap(QSize(dotSize, dotSize) * scale);
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(0, 0, dotSize, dotSize);
    return pixmap;
}

}  // namespace

RunColumn::RunColumn(Theme* theme, TriedModel* model, QWidget* parent)
    : QFrame(parent), theme_(theme), model_(model) {
    setObjectName(u"card"_s);
    setAccessibleName(model->title());
    column_ = makeColumn(this, {size::inside, size::gap, size::inside, size::inside}, size::gap);
    auto* head = makeRow(6);
    dot_ = new QLabel(this);
    auto* title = new ElidedLabel(this);
    title->setFont(Theme::bold());
    title->setText(model->title());
    step_ = makeSmall({}, "dim", this);
    head->addWidget(dot_);
    head->addWidget(title, 1);
    head->addWidget(step_);
    column_->addLayout(head);
    problem_ = makeProse({}, "caution", this);
    problem_->setTextFormat(Qt::PlainText);
    problem_->hide();
    column_->addWidget(problem_);
    column_->addStretch(0);
    connect(model_, &TriedModel::changed, this, &RunColumn::refresh);
    connect(theme_, &Theme::changed, this, &RunColumn::refresh);
    refresh();
}

void RunColumn::setBody(QWidget* body) {
    body_ = body;
    column_->insertWidget(2, body, 1);
    refresh();
}

void RunColumn::showProblem(const QString& problem) {
    const QString text = model_->problem().isEmpty() ? problem : model_->problem();
    problem_->setText(text);
    problem_->setVisible(!text.isEmpty());
}

void RunColumn::refresh() {
    dot_->setPixmap(dotOf(theme_->precision(model_->precision()), devicePixelRatioF()));
    const auto& facts = model_->facts();
    step_->setText(facts               ? tr("step %1").arg(count(facts->step))
                   : model_->settled() ? QString()
                                       : tr("Opening…"));
    showProblem({});
    if (body_ != nullptr) body_->setVisible(model_->problem().isEmpty());
}

RunColumns::RunColumns(Theme* theme, const TriedModels& models, int narrowest, QWidget* parent)
    : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    auto* row = withName(new QWidget(this), u"sections"_s);
    auto* columns = makeRow(row, {}, size::gap);
    for (TriedModel* model : models) {
        auto* column = new RunColumn(theme, model, row);
        column->setMinimumWidth(narrowest);
        columns->addWidget(column, 1);
        columns_.push_back(column);
    }
    setWidget(row);
}

}  // namespace ui
