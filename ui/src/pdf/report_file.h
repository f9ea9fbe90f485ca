#pragma once

#include <QTextDocument>
#include <filesystem>

#include "engine/report/report.h"

class QPagedPaintDevice;

namespace ui {

/// Lays a text out on the pages of a device, with margins of 2 cm and page numbers. A heading is
/// not left alone at the foot of a page: it moves to the next page together with the first line
/// below it, the first two rows of a table, or a whole picture. The text and the device, which must
/// have no margins of its own, must outlive the pages. GUI thread.
class PrintedPages {
public:
    PrintedPages(QTextDocument& text, QPagedPaintDevice& device);

    int count() const { return text_.pageCount(); }
    /// The page, from 0, that the first line of a block is on.
    int pageOf(const QTextBlock& block) const;
    /// A heading, or the line above lines that are not wrapped (of code).
    static bool isHeading(const QTextBlock& block);
    /// The block that must be on the same page as a heading; invalid: nothing follows.
    static QTextBlock firstBelow(const QTextBlock& heading);
    void print();

private:
    void layOut();
    bool moveLonelyHeading();
    void printNumber(QPainter& painter, int page) const;

    QTextDocument& text_;
    QPagedPaintDevice& device_;
};

/// Writes a report as one file, HTML or PDF (A4), as its name ends, in the window's language.
/// Throws engine::Error(io) if it cannot be written and Error(settings) for another ending. GUI
/// thread.
void writeReportFile(const engine::Report& report, const std::filesystem::path& file);

}  // namespace ui
