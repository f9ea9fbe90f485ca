#include "panels/history/longer_dialog.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "engine/train/resume.h"
#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::LongerSchedule;

LongerDialog::LongerDialog(const engine::RunSummary& run, QWidget* parent)
    : QDialog(parent),
      config_(run.config),
      epochs_(new QSpinBox(this)),
      schedules_(new QButtonGroup(this)) {
    setObjectName(u"longer"_s);
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowModality(Qt::WindowModal);
    setWindowTitle(tr("Train longer"));
    setMinimumWidth(420);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::inside * 2, size::inside * 2, size::inside * 2, size::inside);
    column->setSpacing(size::inside);
    auto* text =
        makeLabel(tr("Run %1 has made all of its steps. It goes on as a new run, which has "
                     "its steps so far.")
                      .arg(QString::fromStdString(run.run)),
                  nullptr, this);
    text->setWordWrap(true);
    column->addWidget(text);
    auto* form = new QFormLayout;
    constexpr std::int64_t most = std::numeric_limits<int>::max() / 2;
    const auto epochs = static_cast<int>(std::clamp<std::int64_t>(config_.epochs, 1, most));
    epochs_->setObjectName(u"longerEpochs"_s);
    epochs_->setRange(1, std::numeric_limits<int>::max());
    epochs_->setValue(2 * epochs);
    form->addRow(tr("Epochs in all"), epochs_);
    column->addLayout(form);
    if (engine::schedule_falls(config_)) column->addLayout(makeSchedules());
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    auto* leave = new QPushButton(tr("Cancel"), this);
    auto* go = new QPushButton(tr("Train longer"), this);
    go->setObjectName(u"primary"_s);
    go->setDefault(true);
    buttons->addWidget(leave);
    buttons->addWidget(go);
    column->addLayout(buttons);
    setAccessibleDescription(text->text());
    epochs_->setFocus();
    connect(leave, &QPushButton::clicked, this, &QDialog::reject);
    connect(go, &QPushButton::clicked, this, &QDialog::accept);
}

QLayout* LongerDialog::makeSchedules() {
    auto* column = new QVBoxLayout;
    column->addWidget(
        makeLabel(tr("The learning rate has fallen to the end of its schedule. In the "
                     "added steps it"),
                  nullptr, this));
    const auto add = [&](LongerSchedule schedule, const QString& words) {
        auto* button = new QRadioButton(words, this);
        schedules_->addButton(button, static_cast<int>(schedule));
        column->addWidget(button);
        return button;
    };
    add(LongerSchedule::constant, tr("stays at its last value"))->setChecked(true);
    add(LongerSchedule::cycle, tr("begins the schedule anew"));
    add(LongerSchedule::stretch, tr("follows one schedule over all steps, so that it jumps"));
    return column;
}

std::vector<std::string> LongerDialog::changes() const {
    std::vector<std::string> out = {"epochs=" + std::to_string(epochs_->value())};
    if (config_.max_steps > 0) out.emplace_back("max_steps=0");
    return out;
}

LongerSchedule LongerDialog::schedule() const {
    const int chosen = schedules_->checkedId();
    return chosen < 0 ? LongerSchedule::ask : static_cast<LongerSchedule>(chosen);
}

}  // namespace ui
