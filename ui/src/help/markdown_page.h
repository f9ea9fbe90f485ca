#pragma once

#include <QColor>
#include <QString>
#include <functional>

class QTextDocument;
class QUrl;

namespace ui {

/// Colours of a page beside those of its palette. Invalid: the palette's.
struct PageColors {
    QColor rule;  ///< lines of tables
    QColor code;  ///< background of code
};

/// Replaces the document by a page. Each heading can be reached by the anchor that GitHub gives it:
/// "Clip after unscaling" as "clip-after-unscaling".
void showMarkdown(QTextDocument& document, const QString& markdown, const PageColors& colors = {});

/// Makes links plain text for which leads(link) is false.
void dropLinks(QTextDocument& document, const std::function<bool(const QUrl&)>& leads);

}  // namespace ui
