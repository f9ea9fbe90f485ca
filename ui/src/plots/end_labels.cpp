#include "plots/end_labels.h"

#include <algorithm>

#include "plots/polyline.h"

namespace ui {

namespace {

constexpr double dot = 6;
constexpr double dotPitch = 8;

}  // namespace

std::vector<PlacedLabel> placeLabels(std::vector<EndLabel> labels, const QFontMetrics& metrics,
                                     double top, double bottom, double right) {
    const double room = bottom - top;
    const auto overfull = [&](double height) {
        return static_cast<double>(labels.size()) * height > room;
    };
    double height = metrics.height();
    if (overfull(height)) std::erase_if(labels, [](const EndLabel& l) { return l.optional; });
    const bool dots = overfull(height);
    if (dots) height = dotPitch;
    while (!labels.empty() && overfull(height)) labels.pop_back();
    std::vector<double> wanted;
    for (const auto& label : labels) wanted.push_back(label.y);
    const auto placed = spreadLabels(wanted, height, top, bottom);
    std::vector<PlacedLabel> out;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const EndLabel& label = labels[i];
        if (dots) {
            out.push_back({{label.x, placed[i] - dot / 2, dot, dot}, {}, label.color});
            continue;
        }
        const double width =
            std::min<double>(metrics.horizontalAdvance(label.text) + 1, right - label.x);
        const QString text =
            metrics.elidedText(label.text, Qt::ElideRight, static_cast<int>(width));
        out.push_back({{label.x, placed[i] - height / 2, width, height}, text, label.color});
    }
    return out;
}

}  // namespace ui
