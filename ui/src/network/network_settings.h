#pragma once

#include <QObject>
#include <QSet>
#include <QStringList>

#include "engine/base/options.h"

namespace ui {

class NetworkFiles;
class NetworkModel;
class SettingsModel;

/// Joins the text to the settings: a text without a fault that the user writes is the network of
/// the next run, with its options; one with a fault keeps the next run from starting. A text that
/// comes with settings is shown. GUI thread.
class NetworkSettings final : public QObject {
    Q_OBJECT
public:
    /// Belongs to the model.
    NetworkSettings(SettingsModel* settings, NetworkModel* model, NetworkFiles* files);

    /// The next run trains this text, as soon as it has no fault.
    bool isTrained() const { return trained_; }
    void train();

signals:
    void changed();

private:
    void followSettings();
    void followText();
    void showText();
    /// The options of the settings become those of the text.
    void takeOptions();
    void write();
    QStringList linesInSettings() const;

    SettingsModel* settings_;
    NetworkModel* model_;
    NetworkFiles* files_;
    QStringList seen_;  ///< lines that the settings had when they were last looked at
    std::string kind_;  ///< model.kind then
    engine::Options options_;  ///< model.options then
    QSet<size_t> written_;     ///< hashes of what this text was each time it went into the settings
    bool trained_ = false, writing_ = false;
};

}  // namespace ui
