#pragma once

#include <QObject>
#include <vector>

#include "engine/lint.h"

namespace ui {

class SettingsModel;

/// The engine's findings on the settings of a single run, kept up to date off the GUI thread while
/// they change. GUI thread.
class LintCheck final : public QObject {
    Q_OBJECT
public:
    explicit LintCheck(SettingsModel* settings, QObject* parent = nullptr);

    /// Errors first; empty for settings that cannot run.
    const std::vector<engine::LintFinding>& findings() const { return findings_; }
    /// GPUs of the machine, which decide where "auto" runs.
    void setCards(std::size_t cards);
    /// Puts the changes of a finding into the settings.
    void fix(const engine::LintFinding& finding);

signals:
    void findingsChanged();

private:
    void check();
    void take(std::vector<engine::LintFinding> findings);

    SettingsModel* settings_;
    std::vector<engine::LintFinding> findings_;
    std::size_t cards_ = 0;
    bool checking_ = false;
    bool again_ = false;  ///< the settings changed meanwhile
};

}  // namespace ui
