#include "theme/tokens.h"

#include <gtest/gtest.h>

#include <QFile>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/settings/catalog.h"
#include "support/contrast.h"
#include "widgets/bit_strip.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// The presets' colours in the theme of these tokens; that of FP32 comes first.
std::vector<std::pair<std::string, QColor>> curves(const Tokens& t) {
    const bool dark = t.panel.lightness() < t.text.lightness();
    std::vector<std::pair<std::string, QColor>> out;
    for (const auto& preset : engine::precisions())
        out.emplace_back(preset.kind, QColor(QRgb(dark ? preset.dark : preset.light)));
    return out;
}

TEST(Tokens, NumberFormatsHaveTheColoursOfTheirPresets) {
    for (const Tokens& t : {lightTokens(), darkTokens()}) {
        const auto all = curves(t);
        EXPECT_EQ(t.fp32, all[0].second);
        EXPECT_EQ(t.tf32, all[1].second);
        EXPECT_EQ(t.fp16, all[2].second);
        EXPECT_EQ(t.bf16, all[3].second);
    }
}

using Matrix = std::array<std::array<double, 3>, 3>;

/// Machado, Oliveira and Fernandes 2009, severity 1: colours as seen without one of the three kinds
/// of cones.
const std::pair<const char*, Matrix> deficiencies[] = {{"protanopia",
                                                        {{{0.152286, 1.052583, -0.204868},
                                                          {0.114503, 0.786281, 0.099216},
                                                          {-0.003882, -0.048116, 1.051998}}}},
                                                       {"deuteranopia",
                                                        {{{0.367322, 0.860646, -0.227968},
                                                          {0.280085, 0.672501, 0.047413},
                                                          {-0.011820, 0.042940, 0.968881}}}},
                                                       {"tritanopia",
                                                        {{{1.255528, -0.076749, -0.178779},
                                                          {-0.078411, 0.930809, 0.147602},
                                                          {0.004733, 0.691367, 0.303900}}}}};

std::array<double, 3> lab(const QColor& color, const Matrix& m) {
    const double rgb[] = {linear(color.redF()), linear(color.greenF()), linear(color.blueF())};
    double s[3];
    for (std::size_t i = 0; i < 3; ++i) {
        s[i] = std::clamp(m[i][0] * rgb[0] + m[i][1] * rgb[1] + m[i][2] * rgb[2], 0.0, 1.0);
    }
    const auto f = [](double v) { return v > 0.008856 ? std::cbrt(v) : 7.787 * v + 16.0 / 116; };
    const double x = f((0.4124 * s[0] + 0.3576 * s[1] + 0.1805 * s[2]) / 0.9505);
    const double y = f(0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2]);
    const double z = f((0.0193 * s[0] + 0.1192 * s[1] + 0.9505 * s[2]) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const QColor& a, const QColor& b, const Matrix& m) {
    const auto la = lab(a, m);
    const auto lb = lab(b, m);
    return std::hypot(la[0] - lb[0], la[1] - lb[1], la[2] - lb[2]);
}

TEST(Tokens, KeepTextReadable) {
    for (const Tokens& t : {lightTokens(), darkTokens()}) {
        for (const QColor& paper : {t.panel, t.field, t.window}) {
            EXPECT_GE(contrast(t.text, paper), 4.5);
            EXPECT_GE(contrast(t.dim, paper), 4.5);
        }
        for (const QColor& words : {t.accent, t.bad, t.good, t.caution}) {
            EXPECT_GE(contrast(words, t.panel), 4.5);
        }
        EXPECT_GE(contrast(t.onAccent, t.accent), 4.5);
    }
}

TEST(Tokens, KeepCurvesVisible) {
    for (const Tokens& t : {lightTokens(), darkTokens()}) {
        for (const auto& [name, color] : curves(t))
            EXPECT_GE(contrast(color, t.panel), 3.0) << name;
    }
}

bool has_recipe(const std::string& preset) {
    return engine::find_kind(engine::precisions(), preset)->settings.recipe !=
           engine::RecipeKind::none;
}

// The comparisons that the program offers: FP32 with each other precision. Those in 8 bits are
// compared with AMP BF16, and thirteen colours leave less room.
TEST(Tokens, TellFp32FromEveryOtherPrecisionForTheColourBlind) {
    int compared = 0;
    for (const Tokens& t : {lightTokens(), darkTokens()}) {
        for (const auto& [kind, matrix] : deficiencies) {
            for (const auto& [name, color] : curves(t)) {
                if (color == t.fp32) continue;
                ++compared;
                EXPECT_GE(distance(t.fp32, color, matrix), has_recipe(name) ? 6.0 : 10.0)
                    << kind << " " << name;
            }
        }
    }
    EXPECT_EQ(compared, 2 * 3 * 13);  // themes, deficiencies, precisions other than fp32
}

TEST(Tokens, TellCurvesOfNoPrecisionFromEachOtherAndFromFp32) {
    for (const Tokens& t : {lightTokens(), darkTokens()}) {
        for (std::size_t i = 0; i < t.own.size(); ++i) {
            EXPECT_GE(contrast(t.own[i], t.panel), 3.0) << i;
            for (const auto& [kind, matrix] : deficiencies) {
                EXPECT_GE(distance(t.fp32, t.own[i], matrix), 10.0) << kind << " " << i;
                for (std::size_t j = 0; j < i; ++j)
                    EXPECT_GE(distance(t.own[j], t.own[i], matrix), 10.0) << kind << i << j;
            }
            for (const auto& [name, color] : curves(t)) EXPECT_NE(t.own[i], color) << name;
        }
    }
}

/// engine/src/report has the colours of the light theme for its curves.
TEST(Tokens, AreThoseOfTheReportsCurves) {
    QFile source(QStringLiteral(HALFTONE_SOURCE_DIR "/engine/src/report/report.cpp"));
    ASSERT_TRUE(source.open(QIODevice::ReadOnly));
    const QString code = QString::fromUtf8(source.readAll());
    const Tokens t = lightTokens();
    for (const QColor& color : t.own) EXPECT_TRUE(code.contains(color.name()));
}

TEST(Tokens, TellSkippedFromGoodForTheColourBlind) {
    for (const Tokens& t : {lightTokens(), darkTokens()}) {
        for (const auto& [kind, matrix] : deficiencies) {
            EXPECT_GE(distance(t.bad, t.good, matrix), 10.0) << kind;
        }
    }
}

TEST(Tokens, DrawTheBitsOfEveryFormatInThreeDistinctColours) {
    const std::pair<int, int> formats[] = {{8, 23}, {8, 10}, {8, 7}, {5, 10}};
    for (const Tokens& t : {lightTokens(), darkTokens()}) {
        for (const auto& [kind, matrix] : deficiencies) {
            for (const auto& [exponent, fraction] : formats) {
                const BitColors bits = bitColors(t, exponent, fraction);
                const auto what = std::string(kind) + " " + std::to_string(fraction);
                EXPECT_GE(distance(bits.sign, bits.exponent, matrix), 10.0) << what;
                EXPECT_GE(distance(bits.exponent, bits.fraction, matrix), 10.0) << what;
                EXPECT_NE(bits.sign, bits.fraction) << what;
            }
        }
    }
}

}  // namespace
}  // namespace ui
