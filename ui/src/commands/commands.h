#pragma once

#include <QObject>
#include <QString>

#include "commands/button_states.h"
#include "engine/error.h"
#include "engine/run_config.h"

namespace ui {

class EventFeed;
class SettingsModel;

/// Something that went wrong, for the bar across the centre.
struct Problem {
    QString sentence;
    QString hint;
    engine::ErrorCode code = engine::ErrorCode::settings;
    bool note = false;  ///< no fault: an answer to something the user did
};

/// What the buttons, menus, keys and drops do. GUI thread.
class Commands final : public QObject {
    Q_OBJECT
public:
    Commands(EventFeed* feed, SettingsModel* settings, QObject* parent = nullptr);

    void compare();
    void start();
    void togglePause();
    void step();
    void stop();
    /// Starts the runs that show what loss scaling is for.
    void demonstrate();
    /// Tests on the test set after the step in flight.
    void validate();
    /// Opens a dropped or named path: data, settings or a run's folder.
    void openPath(const QString& path);

    ButtonStates buttons() const;
    void report(const Problem& problem) { emit failed(problem); }
    void report(const engine::Error& error);

signals:
    void buttonsChanged();
    void failed(const ui::Problem& problem);
    /// A run's folder was opened.
    void runOpened(const QString& folder);
    /// An experiment was started.
    void started();

private:
    /// Why a setting is refused, with the field's name in front.
    QString refusal(const engine::SettingError& error) const;
    void launch(const std::vector<engine::RunConfig>& configs, bool oneStep);
    void stateChanged();
    void tellButtons();

    EventFeed* feed_;
    SettingsModel* settings_;
    Asked asked_ = Asked::nothing;
    ButtonStates told_;
};

}  // namespace ui
