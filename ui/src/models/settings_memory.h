#pragma once

#include <QObject>

namespace ui {

class SettingsModel;

/// Keeps the settings and the compared precisions between starts: restores the last ones when it is
/// constructed, and saves every change. GUI thread.
class SettingsMemory final : public QObject {
    Q_OBJECT
public:
    explicit SettingsMemory(SettingsModel* settings, QObject* parent = nullptr);

private:
    void keep() const;

    SettingsModel* settings_;
};

}  // namespace ui
