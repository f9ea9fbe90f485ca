// Which settings play a part, what their data are, and what the machine lacks for them.
#include "engine/runs/comparison.h"
#include "engine/settings/catalog.h"
#include "models/settings_model.h"
#include "text/event_text.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

bool SettingsModel::applies(const QString& path) const {
    if (path == u"clip.value"_s) return config_.clip.kind != engine::ClipKind::none;
    if (path == u"early_stopping.min_delta"_s) return config_.early_stopping.patience > 0;
    // The precision decides, unless something else was chosen.
    if (path == u"precision.scaler"_s) return config_.precision.scaler.has_value();
    if (hasStaticScale() && path.startsWith(u"scaler."_s)) return path == u"scaler.init_scale"_s;
    if (path.startsWith(u"scaler."_s)) return usesScaler();
    if (path == u"teach.norm_epsilon"_s) return config_.teach.norm == engine::TeachNorm::composed;
    if (path == u"teach.plant.step"_s || path == u"teach.plant.where"_s)
        return config_.teach.plant.kind != engine::PlantKind::none;
    if (const auto* data = engine::find_dataset(config_.dataset.kind)) {
        const bool text = data->input == "tokens";
        if (path == u"dataset.path"_s) return !data->needs.empty();
        if (path == u"dataset.augment"_s) return data->augments;
        if (path == u"dataset.normalize"_s || path == u"dataset.order"_s) return !text;
        if (path == u"bptt"_s) return text;
    }
    const auto* info = engine::find_field(path.toStdString());
    if (info == nullptr || info->kinds.empty()) return true;
    // An option belongs to the kinds of its section that have it.
    const std::string kind = text(path.section(u'.', 0, 0) + u".kind"_s).toStdString();
    if (std::find(info->kinds.begin(), info->kinds.end(), kind) == info->kinds.end()) return false;
    return info->needs.empty() || text(QString::fromStdString(info->needs)) == u"true"_s;
}

QString SettingsModel::dataKey() const {
    const auto& dataset = config_.dataset;
    QStringList parts{QString::fromStdString(dataset.kind), QString::number(dataset.train_limit),
                      QString::number(dataset.validation_share), QString::number(config_.seed)};
    for (const auto& [name, value] : dataset.options)
        parts << QString::fromStdString(name + '=' + engine::to_string(value));
    for (const auto& path : dataset.path) parts << QString::fromStdString(path);
    return parts.join(u'|');
}

void SettingsModel::setData(const QString& key, engine::DatasetPreview data) {
    dataKey_ = key;
    data_ = std::move(data);
    if (!data_->columns.empty() && key == dataKey()) {
        table_.clear();
        for (const auto& column : data_->columns) table_ << QString::fromStdString(column.name);
        tableKey_ = tableKey();
        checkSettings();
    }
    emit changed();
}

/// Key of everything that decides on the names of a table's columns.
QString SettingsModel::tableKey() const {
    const auto& dataset = config_.dataset;
    QStringList parts{QString::fromStdString(dataset.kind)};
    for (const char* option : {"delimiter", "header"}) {
        const auto found = dataset.options.find(option);
        if (found != dataset.options.end())
            parts << QString::fromStdString(engine::to_string(found->second));
    }
    for (const auto& path : dataset.path) parts << QString::fromStdString(path);
    return parts.join(u'|');
}

QStringList SettingsModel::tableColumns() const {
    return tableKey_ == tableKey() ? table_ : QStringList();
}

bool SettingsModel::namesColumns(const QString& path) {
    return path == u"dataset.target"_s || path == u"dataset.columns"_s ||
           path == u"dataset.without"_s || path == u"dataset.categorical"_s;
}

QStringList SettingsModel::columnsOf(const QString& path) const {
    const auto found = config_.dataset.options.find(path.section(u'.', 1).toStdString());
    if (found == config_.dataset.options.end()) return {};
    QStringList out;
    if (const auto* one = std::get_if<std::string>(&found->second); one && !one->empty())
        out << QString::fromStdString(*one).trimmed();
    if (const auto* several = std::get_if<std::vector<std::string>>(&found->second))
        for (const auto& name : *several) out << QString::fromStdString(name).trimmed();
    return out;
}

/// A table without a header has "column 1", "column 2", ..., which may be named by their numbers.
std::vector<engine::SettingError> SettingsModel::unknownColumns() const {
    const QStringList known = tableColumns();
    std::vector<engine::SettingError> out;
    if (known.isEmpty()) return out;
    constexpr qsizetype mostListed = 8;
    QStringList listed = known.mid(0, mostListed);
    if (known.size() > mostListed) listed << u"…"_s;
    for (const char* path : {"dataset.target", "dataset.columns", "dataset.without",
                             "dataset.categorical"}) {
        for (const QString& name : columnsOf(QString::fromLatin1(path))) {
            if (known.contains(name) || known.contains(u"column "_s + name)) continue;
            out.push_back({path, name.toStdString(),
                           engine::msg("the table has the columns {}",
                                       listed.join(u", "_s).toStdString())});
            break;
        }
    }
    return out;
}

const engine::DatasetPreview* SettingsModel::data() const {
    return data_ && dataKey_ == dataKey() ? &*data_ : nullptr;
}

std::vector<engine::Metric> SettingsModel::metrics() const {
    const auto* read = data();
    return read != nullptr ? engine::metrics_of(config_, *read) : engine::metrics_of(config_);
}

void SettingsModel::setLimits(const DeviceLimits& limits) {
    limits_ = limits;
    checkSettings();
    emit changed();
}

QString SettingsModel::lacking(const QString& preset) const {
    const auto found = limits_.precisions.constFind(preset);
    return found == limits_.precisions.cend() ? QString() : sentence(engineText(*found));
}

QString SettingsModel::comparisonProblem() const {
    for (const QString& preset : comparison_) {
        if (limits_.precisions.contains(preset)) return lacking(preset);
    }
    return {};
}

QStringList SettingsModel::leftOutOfComparison() const {
    std::vector<std::string> presets;
    for (const QString& preset : comparison_) presets.push_back(preset.toStdString());
    QStringList out;
    for (const std::string& path : engine::overrides_left_out(config_, presets))
        out << label(QString::fromStdString(path));
    return out;
}

bool SettingsModel::hasStaticScale() const {
    return engine::resolve(config_.precision).scaler == engine::ScalerMode::constant;
}

bool SettingsModel::usesScaler() const {
    const auto scaled = [](const engine::RunConfig& config) {
        return engine::resolve(config.precision).scaler != engine::ScalerMode::off;
    };
    const auto configs = comparisonConfigs();
    return std::any_of(configs.begin(), configs.end(), scaled) || scaled(config_);
}

}  // namespace ui
