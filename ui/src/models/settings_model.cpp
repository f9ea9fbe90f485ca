#include "models/settings_model.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "engine/parallel/launch.h"
#include "engine/runs/comparison.h"
#include "engine/settings/catalog.h"
#include "text/event_text.h"
#include "text/language.h"
#include "text/setting_error_text.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

const QString ratePath = u"optimizer.lr"_s;

QJsonObject toObject(const engine::RunConfig& config) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(engine::to_json(config))).object();
}

QJsonValue at(const QJsonObject& root, const QString& path) {
    QJsonValue value = root;
    for (const QString& part : path.split(u'.')) value = value.toObject().value(part);
    return value;
}

void removeAt(QJsonObject& object, const QString& path) {
    if (!path.contains(u'.')) return object.remove(path);
    const QString name = path.section(u'.', 0, 0);
    QJsonObject inside = object.value(name).toObject();
    removeAt(inside, path.section(u'.', 1));
    object[name] = inside;
}

/// Writes all digits that the number has, and no exponent for 0.0003.
QString numberText(double value) {
    constexpr int usual = 12, most = 17;
    QString text;
    for (int digits = usual; digits <= most; ++digits) {
        text = QString::number(value, 'g', digits);
        if (text.toDouble() == value) break;
    }
    return text;
}

/// As it is typed: words bare, lists and objects as JSON.
QString toText(const QJsonValue& value) {
    switch (value.type()) {
        case QJsonValue::String:
            return value.toString();
        case QJsonValue::Bool:
            return value.toBool() ? u"true"_s : u"false"_s;
        case QJsonValue::Double:
            return numberText(value.toDouble());
        case QJsonValue::Array: {
            QStringList parts;
            for (const auto& part : value.toArray()) parts << toText(part);
            return parts.join(u", "_s);
        }
        case QJsonValue::Object:
            return QString::fromUtf8(
                QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact));
        default:
            return {};
    }
}

}  // namespace

engine::RunConfig windowDefaults() {
    engine::RunConfig config = engine::default_comparison();
    config.instruments.histograms_every = engine::automatic_histograms;
    return config;
}

SettingsModel::SettingsModel(QObject* parent)
    : QObject(parent),
      config_(windowDefaults()),
      json_(toObject(config_)),
      defaults_(json_),
      comparison_({u"fp32"_s, u"amp-fp16"_s}) {
    checkSettings();
}

QString SettingsModel::text(const QString& path) const {
    return refused_.value(path, toText(at(json_, path)));
}

const engine::FieldInfo* SettingsModel::field(const QString& path) const {
    const QString kind = text(path.section(u'.', 0, 0) + u".kind"_s);
    return engine::find_field(path.toStdString(), kind.toStdString());
}

QString SettingsModel::label(const QString& path) const {
    if (path == u"scaler.init_scale"_s && hasStaticScale()) return tr("Static scale");
    const auto* info = field(path);
    return info != nullptr ? engineText(info->label) : path;
}

QString SettingsModel::defaultText(const QString& path) const {
    // These follow a choice, so their default is the value that it brings.
    const auto* info = engine::find_field(path.toStdString());
    const bool option = info != nullptr && !info->kinds.empty();
    const bool scaler = path.startsWith(u"scaler."_s) && path != u"scaler.preset"_s;
    if (option || scaler) {
        const QString chosen = scaler ? u"scaler.preset"_s : path.section(u'.', 0, 0) + u".kind"_s;
        const QString choice = toText(at(json_, chosen));
        // Every field asks after every change: parsing anew would be most of a window's start.
        const QString brought = chosen + u'=' + choice;
        auto found = defaultsOf_.constFind(brought);
        if (found == defaultsOf_.cend()) {
            const auto parsed = engine::parse_run_config("{}", {brought.toStdString()});
            found = defaultsOf_.insert(brought, toObject(parsed.config));
        }
        return toText(at(*found, path));
    }
    return toText(at(defaults_, path));
}

bool SettingsModel::isChanged(const QString& path) const { return text(path) != defaultText(path); }

void SettingsModel::set(const QString& path, const QString& text) {
    if (text == this->text(path)) return;
    remember(path);
    const QString trimmed = text.trimmed();
    if (path == ratePath) ratePicked_ = trimmed != defaultText(path);
    std::vector<std::string> overrides;
    const std::string base = edited(path, trimmed, overrides);
    const auto parsed = engine::parse_run_config(base, overrides);
    bool taken = true;
    for (const auto& error : parsed.errors) {
        if (QString::fromStdString(error.field) == path) taken = false;
    }
    if (path.endsWith(u".kind"_s)) notes_.clear();
    if (taken) {
        refused_.remove(path);
        config_ = parsed.config;
        json_ = toObject(config_);
    } else {
        refused_[path] = trimmed;
    }
    checkSettings();
    emit changed();
}

std::string SettingsModel::edited(const QString& path, const QString& text,
                                  std::vector<std::string>& overrides) const {
    QJsonObject root = json_;
    const QString section = path.section(u'.', 0, 0);
    QJsonObject inside = root.value(section).toObject();
    const auto* info = engine::find_field(path.toStdString());
    if (path == u"scaler.preset"_s || path == u"optimizer.kind"_s || path == u"model.kind"_s ||
        path == u"schedule.kind"_s) {
        // The new choice has its own defaults, so values of the old choice are removed; a rate that
        // was typed is no default.
        const QJsonValue rate = inside.value(u"lr"_s);
        inside = QJsonObject{{path.section(u'.', 1), text}};
        if (section == u"optimizer"_s && ratePicked_) inside[u"lr"_s] = rate;
    } else if (path == u"dataset.kind"_s) {
        // Options of the old data set would cling to the new one, without effect.
        for (const auto& each : engine::fields()) {
            const QString option = QString::fromStdString(each.path);
            const bool others =
                !each.kinds.empty() &&
                std::ranges::find(each.kinds, text.toStdString()) == each.kinds.end();
            if (others && option.startsWith(u"dataset."_s))
                removeAt(inside, option.section(u'.', 1));
        }
        overrides.push_back((path + u'=' + text).toStdString());
    } else if (info != nullptr && (info->optional || !info->kinds.empty()) && text.isEmpty()) {
        removeAt(inside, path.section(u'.', 1));  // the preset's value, or the option's default
    } else {
        overrides.push_back((path + u'=' + text).toStdString());
    }
    if (path.contains(u'.')) root[section] = inside;
    return QJsonDocument(root).toJson().toStdString();
}

void SettingsModel::checkSettings() {
    errors_ = engine::validate(config_);
    std::vector<std::string> overrides;
    for (auto it = refused_.cbegin(); it != refused_.cend(); ++it) {
        overrides.push_back((it.key() + u'=' + it.value()).toStdString());
    }
    const auto add = [this](engine::SettingError error) {
        const bool known = std::any_of(errors_.begin(), errors_.end(),
                                       [&](const auto& e) { return e.field == error.field; });
        if (!known) errors_.push_back(std::move(error));
    };
    if (!overrides.empty()) {
        for (auto& error : engine::parse_run_config(engine::to_json(config_), overrides).errors)
            add(std::move(error));
    }
    if (config_.workers > 1) {
        if (const engine::Message lacking = engine::why_no_workers(); !lacking.empty())
            add({"workers", std::to_string(config_.workers), lacking});
    }
    for (auto& error : unknownColumns()) add(std::move(error));
    if (!limits_.device.empty()) add({"device", config_.device, limits_.device});
    const auto lacking =
        limits_.precisions.constFind(QString::fromStdString(config_.precision.preset));
    if (lacking != limits_.precisions.cend())
        add({"precision.preset", config_.precision.preset, lacking.value()});
}

void SettingsModel::load(const engine::RunConfig& config, const QStringList& comparison,
                         std::vector<engine::Message> notes) {
    remember();
    config_ = config;
    notes_ = std::move(notes);
    json_ = toObject(config_);
    refused_.clear();
    // A rate from a file may have been typed; the first rate of all was not.
    ratePicked_ = isChanged(ratePath) && text(ratePath) != toText(at(defaults_, ratePath));
    if (!comparison.isEmpty()) comparison_ = comparison;
    checkSettings();
    emit changed();
}

void SettingsModel::loadFile(const QString& file) {
    // More than settings may have: a device would never end.
    constexpr qint64 longest = 8 << 20;
    QFile in(file);
    if (!in.open(QIODevice::ReadOnly)) {
        throw engine::Error(engine::ErrorCode::io,
                            engine::msg("{}: cannot be opened.", file.toStdString()),
                            engine::msg("Check the name and that you may read it."));
    }
    const auto parsed = engine::parse_run_config(in.read(longest).toStdString());
    if (!parsed.errors.empty()) {
        const auto& first = parsed.errors.front();
        throw engine::Error(
            engine::ErrorCode::settings,
            engine::msg("{}: {} = {} is not valid.", file.toStdString(), first.field, first.value),
            first.allowed);
    }
    QStringList compared;
    for (const auto& preset : parsed.compared) compared << QString::fromStdString(preset);
    load(parsed.config, compared, parsed.notes);
}

void SettingsModel::saveFile(const QString& file) const {
    engine::write_named_file(file.toStdString(), toJson().toStdString());
}

QByteArray SettingsModel::toJson() const {
    std::vector<std::string> compared;
    for (const QString& preset : comparison_) compared.push_back(preset.toStdString());
    return QByteArray::fromStdString(engine::to_json(config_, compared));
}

bool SettingsModel::fromJson(const QByteArray& json) {
    const auto parsed = engine::parse_run_config(json.toStdString());
    if (!parsed.errors.empty()) return false;
    QStringList compared;
    for (const auto& preset : parsed.compared) compared << QString::fromStdString(preset);
    load(parsed.config, compared);
    return true;
}

QString SettingsModel::errorAt(const QString& path) const {
    for (const auto& error : errors_) {
        const QString field = QString::fromStdString(error.field);
        const bool option = field.startsWith(path + u'.');  // of model.options
        if (field == path || option) return settingErrorText(error);
    }
    return {};
}

void SettingsModel::setComparison(const QStringList& presets) {
    if (presets == comparison_) return;
    remember();
    comparison_ = presets;
    emit changed();
}

std::vector<engine::RunConfig> SettingsModel::comparisonConfigs() const {
    std::vector<engine::RunConfig> configs;
    for (const QString& preset : comparison_)
        configs.push_back(engine::in_precision(config_, preset.toStdString()));
    return configs;
}

}  // namespace ui
