#pragma once

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QString>
#include <QWidget>
#include <memory>

#include "commands/button_states.h"
#include "feed/run_track.h"
#include "view/context.h"

namespace ui {

class PlotLink;
struct Context;

/// The runs that the command bar, the counters and the step chooser describe: those of the visible
/// page if it has its own (commands/run_actor.h), else those on screen.
struct ShownRuns {
    TrackList tracks;
    PlotLink* link;                      ///< in which their step and run are selected
    std::shared_ptr<RunTrack> selected;  ///< null: there are none
};
ShownRuns shownRuns(const Context& context);

/// A run's name on screen.
QString shownTitle(const Context& context, const RunTrack& track);

/// A button that shows its key in a small cap behind the text.
class KeyButton final : public QPushButton {
    Q_OBJECT
public:
    KeyButton(const Theme* theme, const QString& text, const QKeySequence& key, QWidget* parent);
    /// Shows the key that the user has chosen for this command, see KeyBindings.
    void follow(const QString& command, const QKeySequence& usual);
    QString keys() const { return keys_; }
    void setCapShown(bool shown);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int capWidth() const;
    void setKey(const QKeySequence& key);
    const Theme* theme_;
    QString keys_;
    bool capShown_ = true;
};

/// The five buttons, the device and the counters of steps.
class CommandBar final : public QWidget {
    Q_OBJECT
public:
    explicit CommandBar(const Context& context, QWidget* parent = nullptr);
    void focusPrimary();
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// Parts that a narrow window leaves out, in this order; tooltips show them all the same.
    enum class Fit { all, shortDevice, noKeys, noCounts };
    void alignChips();
    void fit();
    void fit(Fit level);
    KeyButton* button(const QString& text, const QString& command = {},
                      const QKeySequence& key = {});
    QLabel* chip(const QString& name);
    void applyStyle();
    void followActor();
    void refreshButtons();
    /// Moves the focus from a button that becomes disabled: to Pause while something runs, else to
    /// Compare.
    void keepFocus(const ButtonStates& next);
    void refreshCounters();
    void inspectDevice();
    QString compareText() const;

    Context context_;
    QHBoxLayout* row_;
    KeyButton* compare_;
    KeyButton* start_;
    KeyButton* pause_;
    KeyButton* step_;
    KeyButton* stop_;
    QLabel* device_;
    QString deviceName_;  ///< empty until the machine was looked at
    QString deviceWords_;
    QLabel* seen_;
    QLabel* applied_;
    QLabel* skipped_;
};

}  // namespace ui
