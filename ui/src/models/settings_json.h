#pragma once

#include <QJsonObject>
#include <QJsonValue>
#include <QString>

#include "engine/settings/run_config.h"

namespace ui {

/// Settings as the JSON object of a settings file.
QJsonObject settingsObject(const engine::RunConfig& config);
/// The value of a path such as "optimizer.lr"; undefined where there is none.
QJsonValue valueAt(const QJsonObject& root, const QString& path);
void removeValueAt(QJsonObject& object, const QString& path);
/// A value as it is typed: words bare, lists and objects as JSON.
QString settingText(const QJsonValue& value);

}  // namespace ui
