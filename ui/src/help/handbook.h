#pragma once

#include <QString>
#include <QUrl>
#include <vector>

#include "help/help_topics.h"

namespace ui {

/// The pages of the handbook, in Markdown, compiled into the program. `language`: "en" or "zh"; a
/// page without a translation is shown in English.
std::vector<HelpTopic> handbookTopics(const QString& language);

/// Id of the page about writing lessons.
QString lessonWritingTopic();

/// The page that a link in the page `from` leads to, in any language; empty: it leads to no
/// page of the handbook.
QString handbookTarget(const QString& from, const QUrl& link);

}  // namespace ui
