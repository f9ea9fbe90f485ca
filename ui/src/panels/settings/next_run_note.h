#pragma once

#include <QFrame>
#include <QLabel>
#include <QStringList>
#include <QToolButton>

#include "view/context.h"

namespace ui {

class RunTrack;

/// The fields in which the settings differ from those of a run, by their labels. What each run of a
/// comparison has for itself is left out: precision, device.
QStringList differingFields(const Context& context, const RunTrack& track);

/// Above the settings: says that they are locked while a run trains, or that they are those of the
/// next run where they differ from the run on screen. Its link unlocks them, or takes the run's.
class NextRunNote final : public QFrame {
    Q_OBJECT
public:
    explicit NextRunNote(const Context& context, QWidget* parent = nullptr);

    bool locked() const { return running_ && !unlocked_; }

signals:
    void lockedChanged();

private:
    void follow();
    void refresh();
    void act();

    Context context_;
    QLabel* text_;
    QToolButton* link_;
    bool running_ = false;
    bool unlocked_ = false;  ///< by the user, until the run ends
};

}  // namespace ui
