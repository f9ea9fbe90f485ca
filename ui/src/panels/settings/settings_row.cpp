#include "panels/settings/settings_row.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

SettingsRow::SettingsRow(SettingsModel* model, QWidget* label, std::vector<SettingsField*> fields,
                         QWidget* beside, QWidget* parent)
    : QWidget(parent), model_(model), fields_(std::move(fields)) {
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(1);
    auto* line = new QHBoxLayout;
    line->setSpacing(size::grid + 2);
    label->setFixedWidth(size::labelColumn);
    line->addWidget(label);
    for (auto* field : fields_) {
        line->addWidget(field, 1);
        if (beside != nullptr && field == fields_.front()) line->addWidget(beside);
    }
    rows->addLayout(line);
    error_ = makeLabel({}, "bad", this);
    error_->setObjectName(u"fieldError"_s);
    error_->setFont(Theme::caption());
    error_->setWordWrap(true);
    error_->setTextFormat(Qt::PlainText);
    rows->addWidget(error_);
    connect(model_, &SettingsModel::changed, this, &SettingsRow::refresh);
    refresh();
}

void SettingsRow::refresh() {
    QStringList wrong;
    bool applies = false;
    for (const auto* field : fields_) {
        const QString error = model_->errorAt(field->path());
        if (!error.isEmpty()) wrong << error;
        applies = applies || model_->applies(field->path());
    }
    error_->setText(wrong.join(u'\n'));
    error_->setVisible(!wrong.isEmpty());
    setVisible(applies || !wrong.isEmpty());
}

}  // namespace ui
