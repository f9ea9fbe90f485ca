#pragma once

#include <QJsonObject>
#include <QMap>
#include <QObject>
#include <QStringList>
#include <optional>
#include <vector>

#include "engine/base/metric.h"
#include "engine/data/dataset_preview.h"
#include "engine/settings/run_config.h"
#include "models/settings_data.h"

namespace engine {
struct FieldInfo;
}

namespace ui {

/// The reasons why the chosen device cannot train in a precision.
struct DeviceLimits {
    engine::Message device;                     ///< why it cannot be used; empty if it can
    QMap<QString, engine::Message> precisions;  ///< presets that cannot run on it, and why
};

/// The default comparison as the window sets it up: its runs keep histograms, so that Microscope
/// has an answer.
engine::RunConfig windowDefaults();
/// Its precisions, the baseline first.
QStringList defaultComparison();

/// The settings being edited: every field by its path, as text, so that a new field needs no code
/// here. The engine's parser reads and validates them; invalid texts are kept so that they can be
/// corrected.
class SettingsModel final : public QObject {
    Q_OBJECT
public:
    explicit SettingsModel(QObject* parent = nullptr);

    /// The text of a field as it stands ("0.05", "sgd"), refused or not.
    QString text(const QString& path) const;
    void set(const QString& path, const QString& text);
    /// Differs from its default.
    bool isChanged(const QString& path) const;
    /// The text of a field in the default comparison; for fields of the scaler and the optimizer,
    /// their value in the chosen preset and optimizer. Empty for a field that is left out.
    QString defaultText(const QString& path) const;
    void reset(const QString& path) { set(path, defaultText(path)); }
    /// Whether the field has an effect with the present settings: a momentum belongs to SGD, a
    /// floor to a dynamic scaler.
    bool applies(const QString& path) const;
    /// Replaces everything; `comparison` are the precisions to compare, unchanged if empty.
    void load(const engine::RunConfig& config, const QStringList& comparison = {},
              std::vector<engine::Message> notes = {});
    /// Reads a settings file. Throws engine::Error(io) if it cannot be read, (settings) with the
    /// first invalid field if it is not usable.
    void loadFile(const QString& file);
    /// Throws engine::Error(io).
    void saveFile(const QString& file) const;
    /// The settings and the precisions to compare, as in a settings file.
    QByteArray toJson() const;

    /// Takes back the last change; changes in one turn of the event loop are one. The data's
    /// preview and the machine's limits are not changes of the settings.
    void undo() { step(undone_, redone_); }
    void redo() { step(redone_, undone_); }
    /// Change that undo() or redo() would take back: the label of the field, empty if there were
    /// several; nothing if there is nothing.
    std::optional<QString> undoable() const { return nameOf(undone_); }
    std::optional<QString> redoable() const { return nameOf(redone_); }
    void forgetChanges();

    /// A field whose text is a number: letters are no part of it.
    bool takesNumber(const QString& path) const;
    /// The description of a field, as the chosen kind of its section has it; null: no field.
    std::shared_ptr<const engine::FieldInfo> field(const QString& path) const;
    /// Its label in the window's language; the path where there is no such field.
    QString label(const QString& path) const;

    const engine::RunConfig& config() const { return config_; }
    const std::vector<engine::SettingError>& errors() const { return errors_; }
    /// Loaded settings without effect, until another kind is chosen.
    const std::vector<engine::Message>& notes() const { return notes_; }
    /// The error of a field, in one sentence; empty if there is none.
    QString errorAt(const QString& path) const;

    /// Identifies the samples: equal keys mean the same data.
    QString dataKey() const;
    /// Sets the preview of the data of this key.
    void setData(const QString& key, engine::DatasetPreview data);
    /// The preview of the present data; null until it is read, and if it cannot be.
    const engine::DatasetPreview* data() const;
    /// The columns of the table that the settings name, in its order, also while an invalid setting
    /// keeps it from being read; none before it was read once, and for other data.
    QStringList tableColumns() const;
    /// Whether the setting names columns of a table.
    static bool namesColumns(const QString& path) { return SettingsData::namesColumns(path); }
    /// The columns that such a setting names.
    QStringList columnsOf(const QString& path) const {
        return SettingsData::columnsOf(config_, path);
    }
    /// Metrics of a run with these settings, from its data once they are read.
    std::vector<engine::Metric> metrics() const;

    /// Values that the machine cannot run become errors.
    void setLimits(const DeviceLimits& limits);
    /// Says why the network's text, which is being written, cannot be trained; empty: it can.
    void setTextProblem(engine::Message problem);
    /// Why a precision cannot run on the chosen device; empty if it can.
    QString lacking(const QString& preset) const;
    /// Why the comparison cannot run although each setting is good; empty if it can.
    QString comparisonProblem() const;

    /// Precision presets of Compare, in order; the first is the baseline.
    const QStringList& comparison() const { return comparison_; }
    void setComparison(const QStringList& presets);
    /// The settings of each run of the comparison.
    std::vector<engine::RunConfig> comparisonConfigs() const;
    /// Labels of what is chosen for the precision of the single run and plays no part in these.
    QStringList leftOutOfComparison() const;
    /// Some run of these settings has a loss scaler.
    bool usesScaler() const;
    /// Runs of these settings that scale the loss keep their initial scale, and skip nothing.
    bool hasStaticScale() const;

signals:
    void changed();

private:
    /// The settings before a change.
    struct State {
        QString path;  ///< of the field that was changed; empty: several
        engine::RunConfig config;
        QMap<QString, QString> refused;
        std::vector<engine::Message> notes;
        QStringList comparison;
        bool ratePicked = false;
    };
    State state(const QString& path) const;
    /// Called before each change.
    void remember(const QString& path = {});
    void step(std::vector<State>& from, std::vector<State>& to);
    std::optional<QString> nameOf(const std::vector<State>& states) const;
    /// The settings with the defaults of the options of the network's text.
    QJsonObject defaultsOfText() const;
    void checkSettings();
    /// The settings as JSON with the field set to the text; fields that depend on it are reset.
    std::string edited(const QString& path, const QString& text,
                       std::vector<std::string>& overrides) const;

    engine::RunConfig config_;
    QJsonObject json_;  ///< of config_
    QJsonObject defaults_;
    mutable QHash<QString, QJsonObject> defaultsOf_;  ///< with one choice, "optimizer.kind=adam"
    QMap<QString, QString> refused_;                  ///< texts that the parser did not take
    SettingsData data_;
    DeviceLimits limits_;
    engine::Message textProblem_;
    std::vector<engine::SettingError> errors_;
    std::vector<engine::Message> notes_;
    QStringList comparison_;
    bool ratePicked_ = false;  ///< optimizer.lr was typed, so another optimizer does not change it
    std::vector<State> undone_, redone_;
    bool sameTurn_ = false;  ///< a change of this turn of the event loop is in undone_
};

/// Keeps the settings and the compared precisions between starts: restores the last ones when it is
/// constructed, as far as this version takes them, and saves every change. GUI thread.
class SettingsMemory final : public QObject {
    Q_OBJECT
public:
    explicit SettingsMemory(SettingsModel* settings, QObject* parent = nullptr);

private:
    void keep() const;
    void restore();
    /// Keeps settings that are not valid as a whole where the user finds them, and says where.
    static engine::Message keepRejected(const std::string& json);

    SettingsModel* settings_;
};

}  // namespace ui
