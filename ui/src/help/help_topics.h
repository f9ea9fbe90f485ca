#pragma once

#include <QString>
#include <vector>

namespace ui {

class SettingsModel;

/// One page of the help window.
struct HelpTopic {
    QString id;     ///< of a setting: its path
    QString group;  ///< "Ideas", "Settings", ...
    QString title;
    QString html;
    QString markdown = {};  ///< in place of html
};

/// All pages, in the order of the help window. `language`: of the handbook, "en" or "zh".
std::vector<HelpTopic> helpTopics(const SettingsModel& settings, const QString& language);

/// Id of the page with the keyboard shortcuts.
QString shortcutsTopic();

}  // namespace ui
