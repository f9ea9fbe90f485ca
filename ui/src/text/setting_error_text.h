#pragma once

#include <QString>

#include "engine/settings/run_config.h"

namespace ui {

/// An invalid setting in one line: what is wrong and what is allowed, with the field's label in
/// front if there is one.
QString settingErrorText(const engine::SettingError& error, const QString& label = {});

/// With a capital letter at its beginning.
QString capitalised(QString text);

}  // namespace ui
