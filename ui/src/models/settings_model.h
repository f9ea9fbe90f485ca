#pragma once

#include <QJsonObject>
#include <QMap>
#include <QObject>
#include <QStringList>
#include <vector>

#include "engine/run_config.h"

namespace ui {

/// The settings being edited: every field by its path, as text, so that a new field needs no code
/// here. The engine's parser reads and judges them; refused texts are kept so that they can be
/// mended.
class SettingsModel final : public QObject {
    Q_OBJECT
public:
    explicit SettingsModel(QObject* parent = nullptr);

    /// The text of a field as it stands ("0.05", "sgd"), refused or not.
    QString text(const QString& path) const;
    void set(const QString& path, const QString& text);
    /// Differs from the value that a run without settings has.
    bool isChanged(const QString& path) const;
    QString defaultText(const QString& path) const;
    void reset(const QString& path) { set(path, defaultText(path)); }
    /// Replaces everything; `comparison` are the precisions to compare, unchanged if empty.
    void load(const engine::RunConfig& config, const QStringList& comparison = {});
    /// Reads a settings file. Throws engine::Error(io) if it cannot be read, (settings) with the
    /// first refused field if it is not usable.
    void loadFile(const QString& file);
    /// Throws engine::Error(io).
    void saveFile(const QString& file) const;

    const engine::RunConfig& config() const { return config_; }
    const std::vector<engine::SettingError>& errors() const { return errors_; }
    /// What is wrong with a field; empty if nothing.
    QString errorAt(const QString& path) const;

    /// Precision presets of Compare, in order; the first is the baseline.
    const QStringList& comparison() const { return comparison_; }
    void setComparison(const QStringList& presets);
    /// The settings of each run of the comparison.
    std::vector<engine::RunConfig> comparisonConfigs() const;
    /// Some run of these settings has a loss scaler.
    bool usesScaler() const;

signals:
    void changed();

private:
    void judge();

    engine::RunConfig config_;
    QJsonObject json_;  ///< of config_
    QJsonObject defaults_;
    QMap<QString, QString> refused_;  ///< texts that the parser did not take
    std::vector<engine::SettingError> errors_;
    QStringList comparison_;
};

}  // namespace ui
