#pragma once

#include <QString>
#include <QUrl>
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

/// The pages of the handbook, in Markdown, compiled into the program. `language`: "en" or "zh"; a
/// page without a translation is shown in English.
std::vector<HelpTopic> handbookTopics(const QString& language);

/// Id of the page with the changes of each release.
QString changesTopic();

/// Id of the page about writing lessons.
QString lessonWritingTopic();

/// The page that a link in the page `from` leads to, in any language; empty: it leads to no
/// page of the handbook.
QString handbookTarget(const QString& from, const QUrl& link);

}  // namespace ui
