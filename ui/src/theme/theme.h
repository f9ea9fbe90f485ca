#pragma once

#include <QFont>
#include <QObject>
#include <QPalette>
#include <QString>
#include <memory>

#include "theme/tokens.h"

namespace ui {

/// Which tokens are in force, and the palette, style sheet and fonts made from them. GUI thread.
class Theme final : public QObject {
    Q_OBJECT
public:
    enum class Choice { system, light, dark };

    /// The remembered choice. Reads the system's palette before it is replaced.
    explicit Theme(QObject* parent = nullptr);
    /// One theme whatever was chosen: for pictures on paper.
    explicit Theme(Choice fixed);

    const Tokens& tokens() const { return tokens_; }
    bool isDark() const { return dark_; }
    Choice choice() const { return choice_; }
    void setChoice(Choice choice);

    /// Colour of a precision preset, the same everywhere.
    QColor precision(const std::string& preset) const;
    /// Colour of a run beside others: the `own`-th colour that is no precision's, else its
    /// precision's (feed/run_track.h).
    QColor run(const std::string& preset, int own) const;
    template <typename Track>
    QColor run(const Track& track) const {
        return run(track.precision(), track.hue.own);
    }
    /// The accent where there is no track.
    template <typename Track>
    QColor run(const std::shared_ptr<Track>& track) const {
        return track ? run(*track) : tokens_.accent;
    }
    /// One step smaller than the interface font.
    static QFont caption();
    /// QFont::Bold: between it and the normal weight the fonts for Chinese have none, and Qt draws
    /// only bold for a font that lacks it.
    static QFont bold();
    /// Digits of one width, for figures that change.
    static QFont figures();
    /// Height that holds a line of text in the interface font, at least `least`.
    static int rowHeight(int least);
    /// Window width under which side columns fold, and window height under which three cards are a
    /// table. Both grow with a large interface font.
    static int foldWidth();
    static int tableHeight();

signals:
    void changed();

private:
    void apply();
    bool systemIsDark() const;
    static void recolourLinks();

    QPalette system_;
    Tokens tokens_;
    Choice choice_ = Choice::system;
    bool dark_ = false;
};

/// Colour of a share in [0, 1], from the panel's colour to a deep tone of the run's. Uses the root,
/// which raises small shares.
QColor heatColor(const Tokens& tokens, const QColor& run, double share);

}  // namespace ui
