#include "models/settings_data.h"
#include "text/format.h"

#include <utility>

namespace ui {
namespace {

/// Key of everything that decides on the names of a table's columns.
QString tableKeyOf(const engine::RunConfig& config) {
    const auto& dataset = config.dataset;
    QStringList parts{QString::fromStdString(dataset.kind)};
    for (const char* option : {"delimiter", "header"}) {
        const auto found = dataset.options.find(option);
        if (found != dataset.options.end())
            parts << QString::fromStdString(engine::to_string(found->second));
    }
    return (parts + stringList(dataset.path)).join(u'|');
}

}  // namespace

QString SettingsData::keyOf(const engine::RunConfig& config) {
    const auto& dataset = config.dataset;
    QStringList parts{QString::fromStdString(dataset.kind), QString::number(dataset.train_limit),
                      QString::number(dataset.validation_share), QString::number(config.seed)};
    for (const auto& [name, value] : dataset.options)
        parts << QString::fromStdString(name + '=' + engine::to_string(value));
    return (parts + stringList(dataset.path)).join(u'|');
}

bool SettingsData::take(const engine::RunConfig& config, const QString& key,
                        engine::DatasetPreview data) {
    key_ = key;
    preview_ = std::move(data);
    if (preview_->columns.empty() || key != keyOf(config)) return false;
    table_.clear();
    for (const auto& column : preview_->columns) table_ << QString::fromStdString(column.name);
    tableKey_ = tableKeyOf(config);
    return true;
}

const engine::DatasetPreview* SettingsData::preview(const engine::RunConfig& config) const {
    return preview_ && key_ == keyOf(config) ? &*preview_ : nullptr;
}

QStringList SettingsData::columns(const engine::RunConfig& config) const {
    return tableKey_ == tableKeyOf(config) ? table_ : QStringList();
}

bool SettingsData::namesColumns(const QString& path) {
    return path == u"dataset.target"_s || path == u"dataset.columns"_s ||
           path == u"dataset.without"_s || path == u"dataset.categorical"_s;
}

QStringList SettingsData::columnsOf(const engine::RunConfig& config, const QString& path) {
    const auto found = config.dataset.options.find(path.section(u'.', 1).toStdString());
    if (found == config.dataset.options.end()) return {};
    QStringList out;
    if (const auto* one = std::get_if<std::string>(&found->second); one && !one->empty())
        out << QString::fromStdString(*one).trimmed();
    if (const auto* several = std::get_if<std::vector<std::string>>(&found->second))
        for (const auto& name : *several) out << QString::fromStdString(name).trimmed();
    return out;
}

/// A table without a header has "column 1", "column 2", ..., which may be named by their numbers.
std::vector<engine::SettingError> SettingsData::unknownColumns(
    const engine::RunConfig& config) const {
    const QStringList known = columns(config);
    std::vector<engine::SettingError> out;
    if (known.isEmpty()) return out;
    constexpr qsizetype maxListed = 8;
    QStringList listed = known.mid(0, maxListed);
    if (known.size() > maxListed) listed << u"…"_s;
    for (const char* path : {"dataset.target", "dataset.columns", "dataset.without",
                             "dataset.categorical"}) {
        for (const QString& name : columnsOf(config, QString::fromLatin1(path))) {
            if (known.contains(name) || known.contains(u"column "_s + name)) continue;
            out.push_back({path, name.toStdString(),
                           engine::msg("the table has the columns {}",
                                       listed.join(u", "_s).toStdString())});
            break;
        }
    }
    return out;
}

}  // namespace ui
