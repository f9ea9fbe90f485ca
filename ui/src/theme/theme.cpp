#include "theme/theme.h"

#include <QApplication>
#include <QFontInfo>
#include <QFontMetrics>
#include <QLabel>
#include <QSettings>
#include <QStyleHints>
#include <algorithm>

#include "theme/style_sheet.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QPalette paletteOf(const Tokens& t) {
    QPalette p;
    p.setColor(QPalette::Window, t.window);
    p.setColor(QPalette::WindowText, t.text);
    p.setColor(QPalette::Base, t.panel);
    p.setColor(QPalette::AlternateBase, t.field);
    p.setColor(QPalette::Text, t.text);
    p.setColor(QPalette::PlaceholderText, t.dim);
    p.setColor(QPalette::Button, t.field);
    p.setColor(QPalette::ButtonText, t.text);
    p.setColor(QPalette::ToolTipBase, t.panel);
    p.setColor(QPalette::ToolTipText, t.text);
    p.setColor(QPalette::Highlight, t.accent);
    p.setColor(QPalette::HighlightedText, t.onAccent);
    p.setColor(QPalette::Link, t.accent);
    p.setColor(QPalette::LinkVisited, t.accent);
    p.setColor(QPalette::BrightText, t.bad);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        p.setColor(QPalette::Disabled, role, blend(t.panel, t.dim, 0.65));
    }
    return p;
}

/// A desktop set to high contrast draws text as far from the window as it can.
bool wantsHighContrast(const QPalette& p) {
    const int distance =
        std::abs(p.color(QPalette::WindowText).lightness() - p.color(QPalette::Window).lightness());
    return distance == 255;
}

/// 1 for a font of a usual size, and more for a larger one: by as much as its text is wider.
double roomFactor() {
    constexpr double usualPixels = 15;  // the largest default of the common desktops
    return std::max(1.0, QFontInfo(QApplication::font()).pixelSize() / usualPixels);
}

}  // namespace

Theme::Theme(QObject* parent) : QObject(parent), system_(QGuiApplication::palette()) {
    const int stored = QSettings().value(u"theme"_s, 0).toInt();
    if (stored >= 0 && stored <= 2) choice_ = static_cast<Choice>(stored);
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    connect(QGuiApplication::styleHints(), &QStyleHints::colorSchemeChanged, this, [this] {
        if (choice_ == Choice::system) apply();
    });
#endif
    apply();
}

Theme::Theme(Choice fixed) : system_(QGuiApplication::palette()), choice_(fixed) { apply(); }

void Theme::setChoice(Choice choice) {
    choice_ = choice;
    QSettings().setValue(u"theme"_s, static_cast<int>(choice));
    apply();
}

/// A label lays out its links in the colours of that moment, and keeps them until it has another
/// text.
void Theme::recolourLinks() {
    for (QWidget* widget : QApplication::allWidgets()) {
        auto* label = qobject_cast<QLabel*>(widget);
        if (label == nullptr || !label->text().contains(u"<a "_s)) continue;
        const QString text = label->text();
        label->setPalette(QApplication::palette(label));
        label->clear();
        label->setText(text);
    }
}

bool Theme::systemIsDark() const {
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    const auto scheme = QGuiApplication::styleHints()->colorScheme();
    if (scheme != Qt::ColorScheme::Unknown) return scheme == Qt::ColorScheme::Dark;
#endif
    return system_.color(QPalette::Window).lightness() <
           system_.color(QPalette::WindowText).lightness();
}

void Theme::apply() {
    dark_ = choice_ == Choice::dark || (choice_ == Choice::system && systemIsDark());
    tokens_ = dark_ ? darkTokens() : lightTokens();
    if (wantsHighContrast(system_)) {
        tokens_.dim = tokens_.text;
        tokens_.line = tokens_.dim;
    }
    QApplication::setPalette(paletteOf(tokens_));
    if (auto* app = qobject_cast<QApplication*>(QCoreApplication::instance())) {
        app->setStyleSheet(styleSheet(tokens_, dark_));
        recolourLinks();
    }
    emit changed();
}

QColor Theme::precision(const std::string& preset) const {
    if (preset == "fp32") return tokens_.fp32;
    if (preset == "amp-fp16") return tokens_.ampFp16;
    if (preset == "amp-bf16") return tokens_.ampBf16;
    if (preset == "o2-fp16") return tokens_.o2Fp16;
    if (preset == "pure-fp16") return tokens_.pureFp16;
    return tokens_.tf32;
}

int Theme::rowHeight(int least) {
    return std::max(least, QFontMetrics(QApplication::font()).height() + 2 * size::border);
}

int Theme::foldWidth() { return qRound(size::foldBelow * roomFactor()); }

int Theme::tableHeight() { return qRound(size::tableBelow * roomFactor()); }

QColor Theme::run(const std::string& preset, int own) const {
    if (own < 0) return precision(preset);
    return tokens_.own[static_cast<std::size_t>(own) % tokens_.own.size()];
}

QFont Theme::caption() {
    QFont font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() * 0.9);
    return font;
}

QFont Theme::bold() {
    QFont font = QApplication::font();
    font.setWeight(QFont::Bold);
    return font;
}

QFont Theme::figures() {
    QFont font = bold();
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
    font.setFeature("tnum", 1);
#endif
    font.setPointSizeF(font.pointSizeF() * 1.2);
    return font;
}

}  // namespace ui
