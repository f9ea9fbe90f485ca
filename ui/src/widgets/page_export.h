#pragma once

#include <QString>
#include <functional>

class QWidget;

namespace ui {

/// What a page can write into a file.
struct PageExport {
    QString name;                  ///< of the file, without ending
    std::function<QString()> csv;  ///< the figures on show; with a line feed at its end
    QWidget* plots = nullptr;      ///< what pictures show
    std::function<void(const QString& sentence)> failed;
    std::function<QString()> markdown = {};  ///< the same figures as a table; null: not offered
};

/// Asks for a file and writes the figures as CSV or Markdown, or the plots as PNG or SVG, depending
/// on its ending. Does nothing if the user cancels.
void exportPage(QWidget* parent, const PageExport& page);
/// The same without asking. False if the file cannot be written or has another ending.
bool writePage(const PageExport& page, const QString& file);
/// A text as a field of a CSV line, see engine::csv_cell(). Numbers are written without it.
QString csvField(const QString& text);

}  // namespace ui
