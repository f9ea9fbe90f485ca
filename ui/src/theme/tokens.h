#pragma once

#include <QColor>
#include <QString>
#include <array>

namespace ui {

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
    QColor onAccent;  ///< text on accent
    QColor fp32;
    QColor ampFp16;
    QColor ampBf16;
    QColor o2Fp16;
    QColor pureFp16;
    QColor tf32;
    QColor bad;  ///< skipped, error
    QColor good;
    QColor caution;
    std::array<QColor, 5> own;  ///< of curves that stand for no precision
};

inline Tokens lightTokens() {
    return {.window = {0xee, 0xf0, 0xf3},
            .panel = {0xff, 0xff, 0xff},
            .field = {0xf5, 0xf6, 0xf8},
            .line = {0xd9, 0xdd, 0xe3},
            .grid = {0xe9, 0xec, 0xf0},
            .text = {0x1a, 0x1e, 0x24},
            .dim = {0x5b, 0x65, 0x72},
            .accent = {0x2b, 0x62, 0xc4},
            .onAccent = {0xff, 0xff, 0xff},
            .fp32 = {0x2b, 0x6c, 0xb0},
            .ampFp16 = {0xbf, 0x56, 0x00},
            .ampBf16 = {0x0b, 0x7a, 0x5b},
            .o2Fp16 = {0x83, 0x49, 0xca},
            .pureFp16 = {0xa6, 0x1e, 0x4d},
            .tf32 = {0x5f, 0x6b, 0x7a},
            .bad = {0xc9, 0x2a, 0x2a},
            .good = {0x1b, 0x7f, 0x4b},
            .caution = {0x9a, 0x67, 0x00},
            .own = {QColor(0x1b, 0x8f, 0xb8), QColor(0x6f, 0x8a, 0x12), QColor(0x2f, 0x2a, 0x86),
                    QColor(0x9c, 0x12, 0x73), QColor(0x5d, 0x3a, 0x1a)}};
}

inline Tokens darkTokens() {
    return {.window = {0x14, 0x16, 0x1a},
            .panel = {0x1c, 0x1f, 0x25},
            .field = {0x23, 0x27, 0x2e},
            .line = {0x30, 0x35, 0x3e},
            .grid = {0x28, 0x2d, 0x35},
            .text = {0xe7, 0xe9, 0xec},
            .dim = {0x9a, 0xa4, 0xb0},
            .accent = {0x6e, 0xa0, 0xff},
            .onAccent = {0x14, 0x16, 0x1a},
            .fp32 = {0x6c, 0xb2, 0xff},
            .ampFp16 = {0xff, 0x9f, 0x4a},
            .ampBf16 = {0x3c, 0xcb, 0xa0},
            .o2Fp16 = {0xd6, 0xa8, 0xe6},
            .pureFp16 = {0xff, 0x7b, 0xa5},
            .tf32 = {0xa9, 0xb4, 0xc2},
            .bad = {0xff, 0x6b, 0x6b},
            .good = {0x4f, 0xd1, 0x8b},
            .caution = {0xe3, 0xb3, 0x41},
            .own = {QColor(0x4f, 0xe3, 0xf5), QColor(0xf0, 0xe0, 0x4a), QColor(0x6f, 0x62, 0xea),
                    QColor(0xe8, 0x5f, 0xc0), QColor(0xb5, 0xe8, 0x8a)}};
}

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
