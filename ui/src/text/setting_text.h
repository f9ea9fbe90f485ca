#pragma once

#include <QString>
#include <string>
#include <vector>

#include "engine/settings/run_config.h"

namespace ui {

/// Titles of settings, where the command line and files have keys.

/// "Learning rate" of "optimizer.lr"; the last part of a path that no setting has. `kind`: that of
/// its section ("adam"), since kinds name options of the same path differently.
QString settingTitle(const std::string& path, const std::string& kind = {});
/// "Optimizer" of "optimizer.lr", for a menu of settings; empty for a path without a section.
QString sectionTitle(const std::string& path);
/// A setting as a person names it in a field: by its title, with the kinds that have it, or
/// its unit, behind it where several settings have that title.
struct SettingName {
    QString text;
    std::string path;
};
/// `config`: with a network's text, its options are named too.
std::vector<SettingName> settingNames(const engine::RunConfig& config = {});
/// The path of a name, of a title in English, or the text itself: it may be a path.
std::string pathOfSetting(const QString& text, const engine::RunConfig& config = {});
/// "Spirals" of dataset.kind and "spirals", for settings with a few choices; else the value, and a
/// number in the window's notation.
QString settingValue(const std::string& path, const std::string& value);
/// The value of a choice by its title, in the window's language or in English ("spirals" of
/// "Spirals"), or the text itself.
std::string valueOfSetting(const std::string& path, const QString& text);
/// A setting in a run's label. A word that sets nothing has no title.
struct LabelPart {
    QString title;
    QString value;  ///< without its unit
};
std::vector<LabelPart> labelParts(const std::string& label);
/// "Learning rate 0.1 · Batch size 64" of "optimizer.lr=0.1 batch_size=64", as runs of a queue and
/// points of a sweep are called.
QString settingsLabel(const std::string& label);

/// An invalid setting in one line: what is wrong and what is allowed, with the field's label in
/// front if there is one.
QString settingErrorText(const engine::SettingError& error, const QString& label = {});

/// The text with a capital letter at its beginning.
QString capitalised(QString text);

}  // namespace ui
