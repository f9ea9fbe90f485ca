#pragma once

#include <QString>
#include <functional>

#include "engine/base/table.h"
#include "text/named_output.h"

class QWidget;

namespace ui {

/// Content that a page can write into a file.
struct PageExport {
    QString name;                          ///< of the file, without ending
    std::function<engine::Table()> table;  ///< the figures on show
    QWidget* plots = nullptr;              ///< what pictures show
    /// Has the writer write the file, off the GUI thread.
    std::function<void(const QString& file, FileWriter writer)> write;
    std::function<QString()> markdown = {};  ///< the same figures as a table; null: not offered
};

/// Asks for a file and writes the figures as CSV or Markdown, or the plots as PNG or SVG, depending
/// on its ending. Does nothing if the user cancels.
void exportPage(QWidget* parent, const PageExport& page);
/// A function that writes the page as it is now; null for a file with another ending.
FileWriter pageWriter(const PageExport& page, const QString& file);

}  // namespace ui
