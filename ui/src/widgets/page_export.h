#pragma once

#include <QString>
#include <functional>

#include "text/named_output.h"

class QWidget;

namespace ui {

/// Content that a page can write into a file.
struct PageExport {
    QString name;                  ///< of the file, without ending
    std::function<QString()> csv;  ///< the figures on show; with a line feed at its end
    QWidget* plots = nullptr;      ///< what pictures show
    /// Has the writer write the file, off the GUI thread.
    std::function<void(const QString& file, FileWriter writer)> write;
    std::function<QString()> markdown = {};  ///< the same figures as a table; null: not offered
};

/// Asks for a file and writes the figures as CSV or Markdown, or the plots as PNG or SVG, depending
/// on its ending. Does nothing if the user cancels.
void exportPage(QWidget* parent, const PageExport& page);
/// A function that writes the page as it is now; null for a file with another ending.
FileWriter pageWriter(const PageExport& page, const QString& file);
/// Writes the page without asking, at once. False if the file cannot be written or has another
/// ending.
bool writePage(const PageExport& page, const QString& file);
/// A text as a field of a CSV line, see engine::csv_cell(). Numbers are written without it.
QString csvField(const QString& text);
QString csvField(const std::string& text);

}  // namespace ui
