#include "xray/experiment_strip.h"

#include <QGridLayout>
#include <QPainter>

#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"
#include "xray/op_filter.h"
#include "xray/xray_model.h"

namespace ui {
namespace {

QString change(const QString& before, const QString& after) {
    return before == after ? ExperimentStrip::tr("%1, no change").arg(after)
                           : u"%1 → %2"_s.arg(before, after);
}

}  // namespace

ExperimentStrip::ExperimentStrip(const Theme* theme, XrayModel* model, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      model_(model),
      title_(new ElidedLabel(this)),
      conclusion_(makeSmall({}, "dim", this)),
      undo_(new QPushButton(tr("Undo"), this)),
      keep_(new QPushButton(tr("Keep for the run"), this)),
      open_(makeLink(tr("Open in Training"), this)) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    grid->setHorizontalSpacing(size::inside);
    grid->setVerticalSpacing(1);
    title_->setFont(Theme::bold());
    conclusion_->setWordWrap(true);
    const std::array titles{tr("loss"), tr("error against FP32"), tr("step time"),
                            tr("peak memory")};
    grid->addWidget(title_, 0, 0);
    for (std::size_t i = 0; i < figures; ++i) {
        auto* cell = new QWidget(this);
        auto* row = makeColumn(cell, {}, 0);
        auto* caption = new ElidedLabel(cell);
        caption->setText(titles[i]);
        caption->setProperty("role", u"dim"_s);
        caption->setFont(Theme::caption());
        values_[i] = new ElidedLabel(cell);
        addWidgets(row, {caption, values_[i]});
        grid->addWidget(cell, 0, static_cast<int>(i) + 1);
    }
    grid->addWidget(conclusion_, 1, 0, 1, figures + 1);
    auto* buttons = new QHBoxLayout;
    addWidgets(buttons, {open_, undo_, keep_});
    grid->addLayout(buttons, 0, figures + 1, 2, 1, Qt::AlignRight | Qt::AlignVCenter);
    grid->setColumnStretch(0, 6);
    for (int column = 1; column <= static_cast<int>(figures); ++column)
        grid->setColumnStretch(column, 3);
    keep_->setToolTip(
        tr("Writes precision.force into the settings of the run: the next start "
           "uses it"));
    connect(undo_, &QPushButton::clicked, model_, &XrayModel::forgetExperiment);
    connect(keep_, &QPushButton::clicked, model_, [model] { model->keep(); });
    connect(open_, &QToolButton::clicked, this, &ExperimentStrip::trainingWanted);
    connect(model_, &XrayModel::experimentChanged, this, &ExperimentStrip::refresh);
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
    refresh();
}

void ExperimentStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), blend(theme_->tokens().panel, theme_->tokens().caution, 0.12));
}

void ExperimentStrip::refresh() {
    setVisible(model_->experiment().has_value());
    if (!model_->experiment()) return;
    const engine::XrayExperiment& found = *model_->experiment();
    QStringList forced;
    for (const auto& [key, type] : found.forced)
        forced << tr("%1 forced to %2").arg(QString::fromStdString(key), typeTitle(type));
    title_->setText(forced.join(u", "_s));
    const auto& [before, after] = std::pair{found.before, found.after};
    values_[0]->setText(change(significant(before.loss, 4), significant(after.loss, 4)));
    values_[1]->setText(change(percent(before.gradient_error), percent(after.gradient_error)));
    values_[2]->setText(change(milliseconds(before.step_ms), milliseconds(after.step_ms)));
    values_[3]->setText(change(bytes(before.peak_bytes), bytes(after.peak_bytes)));
    const QString kept = tr("Kept: the next start uses it.");
    const QString said = engineText(found.conclusion);
    conclusion_->setText(model_->kept() ? joined({said, kept}) : said);
    keep_->setVisible(!model_->kept());
    open_->setVisible(model_->kept());
}

}  // namespace ui
