#pragma once

#include <QPixmap>
#include <QSize>
#include <QString>

#include "plots/plot_content.h"
#include "text/named_output.h"

namespace ui {

class LinePlot;
class PlotLink;
class Theme;

/// A plot as it goes into a file or onto the clipboard: with title and names of the axes, in a size
/// that does not depend on the window.
struct PlotPicture {
    Theme* theme = nullptr;          ///< of the picture; the content has its colours
    const PlotLink* view = nullptr;  ///< visible steps, x axis and smoothing are taken from here
    PlotLook look;
    PlotContent content;
    QString note;           ///< behind the title; may be empty
    QSize size{1000, 600};  ///< in points; bitmaps have twice as many pixels
};

QPixmap drawPicture(const PlotPicture& picture);
/// Draws it as it is now and returns what writes the file: PNG, SVG or PDF by the name's ending.
/// Throws engine::Error(io) for another ending.
FileWriter pictureWriter(const PlotPicture& picture, const QString& file);
/// Writes the picture at once. False if the file cannot be written or the ending is none of these.
bool writePicture(const PlotPicture& picture, const QString& file);

/// The curves in view as tab-separated lines under a header, a line for each step; of very many
/// steps the means of several, which the header says. Empty without curves.
QString visibleData(const LinePlot& plot);

}  // namespace ui
