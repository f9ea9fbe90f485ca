#include "theme/theme.h"

#include <QApplication>
#include <QFontInfo>
#include <QFontMetrics>
#include <QLabel>
#include <QList>
#include <QPair>
#include <QSettings>
#include <QStyleHints>
#include <algorithm>
#include <cmath>

#include "engine/settings/catalog.h"

namespace ui {
namespace {

/// Adds the colours of number formats.
Tokens withFormats(Tokens t, std::uint32_t engine::PrecisionDescriptor::*color) {
    const auto set = [](QColor& format, QRgb rgb) {
        if (!format.isValid()) format = QColor(rgb);
    };
    for (const auto& preset : engine::precisions()) {
        if (preset.settings.tf32)
            set(t.tf32, preset.*color);
        else if (preset.settings.autocast == engine::AutocastFormat::fp16)
            set(t.fp16, preset.*color);
        else if (preset.settings.autocast == engine::AutocastFormat::bf16)
            set(t.bf16, preset.*color);
        else
            set(t.fp32, preset.*color);
    }
    return t;
}

// @name stands for a token; one source for both themes.
constexpr auto windowRules = R"(
QMainWindow, QDialog, QWidget#helpWindow, QWidget#present { background: @window; }
QMainWindow::separator { width: @gappx; height: @gappx; background: transparent; }
QMenuBar { background: @panel; border: none; border-bottom: 1px solid @line; padding: 1px 4px; }
QMenuBar::item { padding: 4px 8px; border-radius: @fieldRadiuspx; background: transparent; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @panel; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 4px 24px 4px 24px; border-radius: @fieldRadiuspx; }
QMenu::item:selected { background: @selected; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QToolBar { background: @panel; border: none; border-bottom: 1px solid @line; padding: 0; spacing: 0; }
QToolBar[role="margin"] { background: transparent; border: none; }
QToolTip { background: @panel; color: @text; border: 1px solid @line; padding: 4px; }
QSplitter::handle { image: none; background: transparent; }
QStatusBar { background: @panel; border-top: 1px solid @line; }
QStatusBar::item { border: none; }
)";

constexpr auto controlRules = R"(
QPushButton { background: @field; border: 1px solid @line; border-radius: @fieldRadiuspx;
    padding: 4px 10px; color: @text; outline: none; }
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @pressed; }
QPushButton:focus { border: 2px solid @accent; padding: 3px 9px; }
QPushButton:checked { background: @selected; color: @text; }
QPushButton:disabled { color: @faint; background: @panel; }
QPushButton::menu-indicator { image: none; }
QPushButton#primary { background: @accent; border: 1px solid @accent; color: @onAccent; font-weight: 700; }
QPushButton#primary:hover { background: @accentHover; }
QPushButton#primary:focus { border: 2px solid @focusRing; padding: 3px 9px; }
QPushButton#primary:disabled { background: @panel; border-color: @line; color: @faint; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: @fieldRadiuspx;
    padding: 2px; color: @text; outline: none; }
QToolButton:hover, QToolButton:open { background: @hover; }
QToolButton:focus { border: 2px solid @accent; padding: 1px; }
QToolButton:checked { background: @selected; }
QToolButton::menu-indicator { image: none; }
QFrame#segments { background: @panel; border: 1px solid @line; border-radius: @fieldRadiuspx; }
QToolButton[role="segment"] { border-radius: 4px; padding: 3px 10px; }
QToolButton[role="segment"]:focus { padding: 2px 9px; }
QToolButton[role="segment"]:checked { font-weight: 700; }
QToolButton#chip { background: @field; border: 1px solid @line; border-radius: 9px; padding: 1px 7px; }
QToolButton#chip:hover { background: @hover; }
QToolButton#chip:focus { border: 2px solid @accent; padding: 0 6px; }
QToolButton#chip[refused="true"] { border-color: @bad; background: @badTint; }
QToolButton#chip[tone="good"] { border-color: @good; background: @panel; }
QToolButton#chip[tone="caution"] { border-color: @caution; background: @panel; }
QToolButton#chip[tone="bad"] { border-color: @bad; color: @bad; background: @badTint; }
QLabel#chip { background: @field; border: 1px solid @line; border-radius: 10px; padding: 1px 9px; }
QLabel#chip[alarm="true"] { border-color: @bad; color: @bad; background: @badTint; }
QLineEdit, QComboBox, QSpinBox, QPlainTextEdit { background: @field; border: 1px solid @line;
    border-radius: @fieldRadiuspx; padding: 2px 8px; min-height: 19px; color: @text;
    selection-background-color: @accent; selection-color: @onAccent; }
QPlainTextEdit#networkText { background: @panel; border: 2px solid transparent; border-radius: 0; padding: 0; }
QPlainTextEdit#networkText:focus { border: 2px solid @accent; padding: 0; }
QLineEdit[refused="true"], QComboBox[refused="true"] { border-color: @bad; background: @badTint; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QPlainTextEdit:focus { border: 2px solid @accent;
    padding: 1px 7px; background: @panel; }
QLineEdit[refused="true"]:focus, QComboBox[refused="true"]:focus { border-color: @bad; }
QLineEdit:disabled, QComboBox:disabled { color: @dim; background: @panel; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/icons/down.svg); width: 10px; height: 10px; }
QComboBox[role="choice"]::down-arrow { image: none; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @line; padding: 4px;
    selection-background-color: @selected; selection-color: @text; outline: none; }
QCheckBox { spacing: 6px; padding: 3px; border: 2px solid transparent; border-radius: @fieldRadiuspx; }
QCheckBox:focus { border-color: @accent; }
QCheckBox::indicator { image: none; background: transparent; border: none; width: 15px; height: 15px; }
QRadioButton { spacing: 6px; padding: 2px; border: 2px solid transparent; border-radius: @fieldRadiuspx; }
QRadioButton:focus { border-color: @accent; }
QRadioButton::indicator { width: 11px; height: 11px; border: 1px solid @dim; border-radius: 6px; background: @panel; }
QRadioButton::indicator:checked { width: 5px; height: 5px; border: 4px solid @accent; }
QRadioButton::indicator:checked:disabled { border-color: @dim; }
QProgressBar { background: @line; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QTabBar { qproperty-drawBase: 0; background: transparent; }
QTabBar::tab { background: transparent; border: 2px solid transparent; padding: 1px 5px; color: @dim; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; }
QTabBar::tab:selected:focus { border: 2px solid @accent; border-radius: @fieldRadiuspx; }
)";

constexpr auto panelRules = R"(
QWidget#panelHead { background: @panel; border: 1px solid @line;
    border-top-left-radius: @panelRadiuspx; border-top-right-radius: @panelRadiuspx; }
QWidget#panelBody { background: @panel; border: 1px solid @line; border-top: none;
    border-bottom-left-radius: @panelRadiuspx; border-bottom-right-radius: @panelRadiuspx; }
QFrame#card { background: @panel; border: 1px solid @line; border-radius: @panelRadiuspx; }
QFrame#message { background: @badTint; border: 1px solid @bad; border-radius: @panelRadiuspx; }
QFrame#message[tone="note"] { background: @noteTint; border-color: @accent; }
QFrame#guide { background: @noteTint; border: 1px solid @accent; border-radius: @panelRadiuspx; }
QFrame#box { background: @panel; border: 1px solid @line; border-radius: @fieldRadiuspx; }
QFrame#rule { background: @line; border: none; max-height: 1px; min-height: 1px; }
QFrame#help { background: @panel; border: 1px solid @line; border-radius: @panelRadiuspx; }
QLabel { background: transparent; }
QLabel[role="dim"], QToolButton[role="dim"] { color: @dim; }
QLabel[role="caution"] { color: @caution; }
QLabel[role="good"] { color: @good; }
QLabel[role="bad"] { color: @bad; }
QLabel[role="label"] { color: @dim; }
QLabel[role="label"]:hover { color: @accent; }
QToolButton[role="link"] { color: @accent; border: 2px solid transparent; padding: 0; }
QToolButton[role="link"]:hover { text-decoration: underline; background: transparent; }
QToolButton[role="link"]:focus { border: 2px solid @accent; padding: 0; }
QScrollArea, QScrollArea > QWidget > QWidget#sections { background: transparent; border: none; }
QListView, QTreeView, QTableView { background: transparent; border: 2px solid transparent; outline: none;
    selection-background-color: @selected; selection-color: @text; }
QTreeView::item { border-bottom: 1px solid @grid; padding: 3px 4px 3px 2px; }
QTableView#runs { background: @panel; border-radius: @panelRadiuspx; }
QTableView#operations::item { padding: 4px 8px 4px 2px; }
QTreeView::item:selected, QTableView::item:selected { background: @selected; color: @text; }
QTreeView:focus, QListView:focus, QTableView:focus { border: 2px solid @accent;
    border-radius: @fieldRadiuspx; }
QTextBrowser, QWidget#helpWindow QListView { background: @panel; border: 1px solid @line; margin: 1px;
    border-radius: @fieldRadiuspx; padding: 4px; }
QTextBrowser:focus, QWidget#helpWindow QListView:focus { border: 2px solid @accent; margin: 0; }
QWidget#helpWindow QListView::item { border: 1px solid transparent; padding: 2px 5px; }
QWidget#helpWindow QListView::item:selected { background: @selected; color: @text; }
QTextBrowser[role="lesson"], QTextBrowser[role="lesson"]:focus { background: transparent; border: none; margin: 0;
    padding: 0; }
QListView#completions, QListView#columnPicker { background: @panel; border: 1px solid @line; border-radius: 0; padding: 2px; }
QListView#completions:focus, QListView#columnPicker:focus { border: 1px solid @line; border-radius: 0; }
QListView#columnPicker::item { padding: 2px; }
QListView#columnPicker::item:selected { background: @selected; color: @text; }
QListView#columnPicker::indicator { width: 11px; height: 11px; border: 1px solid @dim; border-radius: 3px; background: @panel; }
QListView#columnPicker::indicator:checked { width: 5px; height: 5px; border: 4px solid @accent; }
QHeaderView { background: @panel; }
QHeaderView::section { background: @panel; color: @dim; border: none; border-bottom: 1px solid @line;
    padding: 3px 6px; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 1px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 1px; }
QScrollBar::handle { background: @thumb; border-radius: 4px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: @dim; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
)";

/// The application's style sheet for these tokens.
QString styleSheet(const Tokens& t, bool dark) {
    const QColor strong = dark ? t.text : t.window;
    QList<QPair<QString, QString>> values = {
        {u"accentHover"_s, blend(t.accent, strong, 0.15).name()},
        {u"focusRing"_s, blend(t.accent, t.text, 0.6).name()},
        {u"onAccent"_s, t.onAccent.name()},
        {u"accent"_s, t.accent.name()},
        {u"window"_s, t.window.name()},
        {u"panelRadius"_s, QString::number(size::panelRadius)},
        {u"panel"_s, t.panel.name()},
        {u"fieldRadius"_s, QString::number(size::fieldRadius)},
        {u"field"_s, t.field.name()},
        {u"hover"_s, blend(t.panel, t.accent, 0.10).name()},
        {u"pressed"_s, blend(t.panel, t.accent, 0.20).name()},
        {u"selected"_s, blend(t.panel, t.accent, 0.16).name()},
        {u"thumb"_s, blend(t.line, t.dim, 0.35).name()},
        {u"noteTint"_s, blend(t.panel, t.accent, 0.07).name()},
        {u"badTint"_s, blend(t.panel, t.bad, 0.07).name()},
        {u"bad"_s, t.bad.name()},
        {u"good"_s, t.good.name()},
        {u"caution"_s, t.caution.name()},
        {u"line"_s, t.line.name()},
        {u"grid"_s, t.grid.name()},
        {u"gap"_s, QString::number(size::gap)},
        {u"text"_s, t.text.name()},
        {u"dim"_s, t.dim.name()},
        {u"faint"_s, blend(t.panel, t.dim, 0.65).name()},
    };
    QString sheet = QString::fromLatin1(windowRules) + QString::fromLatin1(controlRules) +
                    QString::fromLatin1(panelRules);
    for (const auto& [name, value] : values) sheet.replace(u'@' + name, value);
    return sheet;
}

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

Tokens lightTokens() {
    return withFormats(
        {.window = {0xee, 0xf0, 0xf3},
         .panel = {0xff, 0xff, 0xff},
         .field = {0xf5, 0xf6, 0xf8},
         .line = {0xd9, 0xdd, 0xe3},
         .grid = {0xe9, 0xec, 0xf0},
         .text = {0x1a, 0x1e, 0x24},
         .dim = {0x5b, 0x65, 0x72},
         .accent = {0x2b, 0x62, 0xc4},
         .onAccent = {0xff, 0xff, 0xff},
         .bad = {0xc9, 0x2a, 0x2a},
         .good = {0x1b, 0x7f, 0x4b},
         .caution = {0x9a, 0x67, 0x00},
         .own = {QColor(0x1b, 0x8f, 0xb8), QColor(0x6f, 0x8a, 0x12), QColor(0x2f, 0x2a, 0x86),
                 QColor(0x9c, 0x12, 0x73), QColor(0x5d, 0x3a, 0x1a)}},
        &engine::PrecisionDescriptor::light);
}

Tokens darkTokens() {
    return withFormats(
        {.window = {0x14, 0x16, 0x1a},
         .panel = {0x1c, 0x1f, 0x25},
         .field = {0x23, 0x27, 0x2e},
         .line = {0x30, 0x35, 0x3e},
         .grid = {0x28, 0x2d, 0x35},
         .text = {0xe7, 0xe9, 0xec},
         .dim = {0x9a, 0xa4, 0xb0},
         .accent = {0x6e, 0xa0, 0xff},
         .onAccent = {0x14, 0x16, 0x1a},
         .bad = {0xff, 0x6b, 0x6b},
         .good = {0x4f, 0xd1, 0x8b},
         .caution = {0xe3, 0xb3, 0x41},
         .own = {QColor(0x4f, 0xe3, 0xf5), QColor(0xf0, 0xe0, 0x4a), QColor(0x6f, 0x62, 0xea),
                 QColor(0xe8, 0x5f, 0xc0), QColor(0xb5, 0xe8, 0x8a)}},
        &engine::PrecisionDescriptor::dark);
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
    const auto* found = engine::find_kind(engine::precisions(), preset);
    if (found == nullptr) return tokens_.tf32;
    return QColor(QRgb(dark_ ? found->dark : found->light));
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

QColor heatColor(const Tokens& tokens, const QColor& run, double share) {
    if (share <= 0) return tokens.panel;
    const bool dark = tokens.panel.lightness() < 128;
    const double depth = 0.08 + 0.92 * std::sqrt(std::min(share, 1.0));
    constexpr double turn = 0.6;  // from the panel's colour to the run's, then on to a deep tone
    if (depth < turn) return blend(tokens.panel, run, depth / turn);
    const QColor deep = dark ? QColor(Qt::white) : QColor(Qt::black);
    return blend(run, deep, 0.65 * (depth - turn) / (1 - turn));
}

}  // namespace ui
