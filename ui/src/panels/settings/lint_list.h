#pragma once

#include <QWidget>

#include "models/settings_checks.h"
#include "view/context.h"

namespace ui {

/// Hazards of the settings before they run, a line each: a mark, the sentence, and what removes it.
/// Hidden where there are none.
class LintList final : public QWidget {
    Q_OBJECT
public:
    explicit LintList(const Context& context, QWidget* parent = nullptr);

    /// GPUs of the machine.
    void setCards(std::size_t cards) { check_->setCards(cards); }

private:
    void refresh();
    void addRow(const engine::LintFinding& finding);

    Context context_;
    LintCheck* check_;
};

}  // namespace ui
