#pragma once

#include <QColor>
#include <QString>
#include <array>

namespace ui {

using namespace Qt::StringLiterals;  // for all sources of the window

/// The colours of one theme. The one place that names colours: everything else asks Theme.
struct Tokens {
    QColor window;
    QColor panel;
    QColor field;
    QColor line;
    QColor grid;
    QColor text;
    QColor dim;
    QColor accent;
    QColor onAccent;                        ///< text on accent
    QColor fp32{}, fp16{}, bf16{}, tf32{};  ///< of number formats: those of the presets with them
    QColor bad;                             ///< skipped, error
    QColor good;
    QColor caution;
    std::array<QColor, 5> own;  ///< of curves that stand for no precision
};

Tokens lightTokens();
Tokens darkTokens();

/// Sizes in device-independent pixels.
namespace size {
inline constexpr int grid = 4;
inline constexpr int gap = 8;      ///< between panels
inline constexpr int inside = 12;  ///< inside them
inline constexpr int panelRadius = 8;
inline constexpr int fieldRadius = 5;
inline constexpr int border = 1;
inline constexpr int head = 29;     ///< height of a panel's head
inline constexpr int field = 25;    ///< height of a field
inline constexpr int control = 29;  ///< height of a command button
inline constexpr int icon = 16;
inline constexpr int mark = 9;  ///< a dot before a word
inline constexpr int thumbnail = 28;
inline constexpr int sideColumn = 308;
inline constexpr int labelColumn = 96;  // labels of settings
inline constexpr int tableBelow = 860;  ///< Theme::tableHeight() with a font of the usual size
inline constexpr int foldBelow = 1280;  ///< Theme::foldWidth() with a font of the usual size
inline constexpr double rawCurve = 1.0;
inline constexpr double smoothCurve = 1.8;
inline constexpr double rawOpacity = 0.2;
}  // namespace size

/// `over` laid on `under` with an opacity in [0, 1].
inline QColor blend(const QColor& under, const QColor& over, double opacity) {
    const auto mix = [opacity](int a, int b) {
        return static_cast<int>(a + (b - a) * opacity + 0.5);
    };
    return {mix(under.red(), over.red()), mix(under.green(), over.green()),
            mix(under.blue(), over.blue())};
}

}  // namespace ui
