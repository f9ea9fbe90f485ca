#pragma once

#include <QObject>
#include <QString>
#include <vector>

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

}  // namespace ui
