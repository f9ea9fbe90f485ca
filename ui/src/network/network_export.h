#pragma once

#include <QByteArray>
#include <QString>
#include <functional>
#include <vector>

#include "engine/settings/run_config.h"

namespace ui {

struct NetworkView;

/// A form in which the page writes its text.
struct NetworkExport {
    QString title;
    QString ending;  ///< without the dot
    /// On any thread. The settings decide the types, the batch and the seed of initial weights. Throws
    /// engine::Error.
    std::function<QByteArray(const NetworkView& view, const engine::RunConfig& settings)> make;
};
/// The engine's forms, ONNX, JSON, and each picture as PDF.
std::vector<NetworkExport> networkExports();

/// A picture on one page of its size, as vectors; Qt Svg draws text as outlines. Throws
/// engine::Error(io) for other bytes.
QByteArray pdfOfSvg(const QByteArray& svg);

}  // namespace ui
