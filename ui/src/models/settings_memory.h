#pragma once

#include <QObject>

namespace ui {

class SettingsModel;

/// Remembers the settings and the compared precisions between starts: takes up those of the last
/// time when it is made, and keeps every change. GUI thread.
class SettingsMemory final : public QObject {
    Q_OBJECT
public:
    explicit SettingsMemory(SettingsModel* settings, QObject* parent = nullptr);

private:
    void keep() const;

    SettingsModel* settings_;
};

}  // namespace ui
