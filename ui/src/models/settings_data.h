#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "engine/data/dataset_preview.h"
#include "engine/settings/run_config.h"

namespace ui {

/// Knows the data that settings name: the preview that was read last, and the columns of the table
/// among them.
class SettingsData {
public:
    /// Identifies the samples: equal keys mean the same data.
    static QString keyOf(const engine::RunConfig& config);
    /// Takes the preview of the data of this key. True if the columns of the settings' table are
    /// known by it.
    bool take(const engine::RunConfig& config, const QString& key, engine::DatasetPreview data);
    /// Null until the data of these settings are read, and if they cannot be.
    const engine::DatasetPreview* preview(const engine::RunConfig& config) const;
    /// The columns of the table in its order, also while an invalid setting keeps it from being
    /// read; none before it was read once, and for other data.
    QStringList columns(const engine::RunConfig& config) const;
    /// The settings that name columns which the table lacks.
    std::vector<engine::SettingError> unknownColumns(const engine::RunConfig& config) const;

    /// Whether a setting names columns of a table, and which it names.
    static bool namesColumns(const QString& path);
    static QStringList columnsOf(const engine::RunConfig& config, const QString& path);

private:
    std::optional<engine::DatasetPreview> preview_;
    QString key_;        ///< of preview_
    QStringList table_;  ///< columns of the table that was read last
    QString tableKey_;   ///< of table_
};

}  // namespace ui
