#pragma once

#include <QObject>
#include <QString>
#include <vector>

#include "engine/data/dataset_preview.h"
#include "engine/verdict/lint.h"

namespace ui {

class SettingsModel;

/// Finds, off the GUI thread, which devices the machine has and which precisions the chosen one
/// cannot run, and writes that into the settings. GUI thread.
class DeviceCheck final : public QObject {
    Q_OBJECT
public:
    explicit DeviceCheck(SettingsModel* settings, QObject* parent = nullptr);

    struct Device {
        QString value;  ///< "cuda:0"
        QString name;   ///< "NVIDIA H200"
    };

signals:
    /// The GPUs that can be used; sent once.
    void devicesFound(const std::vector<ui::DeviceCheck::Device>& devices);

private:
    void findDevices();
    void check();

    SettingsModel* settings_;
    QString checked_;  ///< the device last asked about
};

/// The sizes of the data, which is all that findings depend on.
engine::DatasetPreview sizesOf(const engine::DatasetPreview& data);

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
    /// Also shows what the first steps of these settings told, as long as they are the settings.
    void setMeasured(const engine::RunConfig& config, std::vector<engine::LintFinding> findings);
    /// Puts the changes of a finding into the settings.
    void fix(const engine::LintFinding& finding);

signals:
    void findingsChanged();

private:
    void check();
    void take(std::vector<engine::LintFinding> findings);

    SettingsModel* settings_;
    std::vector<engine::LintFinding> findings_;
    std::vector<engine::LintFinding> measured_;
    std::string measuredOf_;  ///< settings, as JSON
    std::size_t cards_ = 0;
    bool checking_ = false;
    bool again_ = false;  ///< the settings changed meanwhile
};

}  // namespace ui
