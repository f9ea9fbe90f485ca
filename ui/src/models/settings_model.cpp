#include "models/settings_model.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>

#include "engine/error.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QJsonObject toObject(const engine::RunConfig& config) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(engine::to_json(config))).object();
}

QJsonValue at(const QJsonObject& root, const QString& path) {
    QJsonValue value = root;
    for (const QString& part : path.split(u'.')) value = value.toObject().value(part);
    return value;
}

/// As it is typed: words bare, lists and objects as JSON.
QString toText(const QJsonValue& value) {
    switch (value.type()) {
        case QJsonValue::String:
            return value.toString();
        case QJsonValue::Bool:
            return value.toBool() ? u"true"_s : u"false"_s;
        case QJsonValue::Double:
            return QString::number(value.toDouble(), 'g', 12);
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

SettingsModel::SettingsModel(QObject* parent)
    : QObject(parent),
      config_(engine::default_comparison()),
      json_(toObject(config_)),
      defaults_(toObject(engine::RunConfig{})),
      comparison_({u"fp32"_s, u"amp-fp16"_s}) {
    judge();
}

QString SettingsModel::text(const QString& path) const {
    return refused_.value(path, toText(at(json_, path)));
}

QString SettingsModel::defaultText(const QString& path) const {
    // The scaler's own fields follow its preset, so their default is the preset's value.
    if (path.startsWith(u"scaler."_s) && path != u"scaler.preset"_s) {
        const auto parsed = engine::parse_run_config(
            "{}", {"scaler.preset=" + text(u"scaler.preset"_s).toStdString()});
        return toText(at(toObject(parsed.config), path));
    }
    return toText(at(defaults_, path));
}

bool SettingsModel::isChanged(const QString& path) const { return text(path) != defaultText(path); }

void SettingsModel::set(const QString& path, const QString& text) {
    if (text == this->text(path)) return;
    const QString trimmed = text.trimmed();
    std::string base = engine::to_json(config_);
    if (path == u"scaler.preset"_s) {
        // A preset brings its own values: drop the fields that stand beside it.
        QJsonObject root = json_;
        root[u"scaler"_s] = QJsonObject{{u"preset"_s, trimmed}};
        base = QJsonDocument(root).toJson().toStdString();
    }
    if (path == u"model.kind"_s) {
        QJsonObject root = json_;
        root[u"model"_s] = QJsonObject{{u"kind"_s, trimmed}};  // options belong to the old model
        base = QJsonDocument(root).toJson().toStdString();
    }
    const auto parsed = engine::parse_run_config(base, {(path + u'=' + trimmed).toStdString()});
    bool taken = true;
    for (const auto& error : parsed.errors) {
        if (QString::fromStdString(error.field) == path) taken = false;
    }
    if (taken) {
        refused_.remove(path);
        config_ = parsed.config;
        json_ = toObject(config_);
    } else {
        refused_[path] = trimmed;
    }
    judge();
    emit changed();
}

void SettingsModel::judge() {
    errors_ = engine::validate(config_);
    std::vector<std::string> overrides;
    for (auto it = refused_.cbegin(); it != refused_.cend(); ++it) {
        overrides.push_back((it.key() + u'=' + it.value()).toStdString());
    }
    if (overrides.empty()) return;
    for (auto& error : engine::parse_run_config(engine::to_json(config_), overrides).errors) {
        const bool known = std::any_of(errors_.begin(), errors_.end(),
                                       [&](const auto& e) { return e.field == error.field; });
        if (!known) errors_.push_back(std::move(error));
    }
}

void SettingsModel::load(const engine::RunConfig& config, const QStringList& comparison) {
    config_ = config;
    json_ = toObject(config_);
    refused_.clear();
    if (!comparison.isEmpty()) comparison_ = comparison;
    judge();
    emit changed();
}

void SettingsModel::loadFile(const QString& file) {
    QFile in(file);
    if (!in.open(QIODevice::ReadOnly)) {
        throw engine::Error(engine::ErrorCode::io,
                            engine::msg("{}: cannot be opened.", file.toStdString()),
                            engine::msg("Check the name and that you may read it."));
    }
    const auto parsed = engine::parse_run_config(in.readAll().toStdString());
    if (!parsed.errors.empty()) {
        const auto& first = parsed.errors.front();
        throw engine::Error(
            engine::ErrorCode::settings,
            engine::msg("{}: the setting {} is {}.", file.toStdString(), first.field, first.value),
            first.allowed);
    }
    load(parsed.config);
}

void SettingsModel::saveFile(const QString& file) const {
    QSaveFile out(file);
    const bool written = out.open(QIODevice::WriteOnly) &&
                         out.write(QByteArray::fromStdString(engine::to_json(config_))) >= 0 &&
                         out.commit();
    if (!written) {
        throw engine::Error(engine::ErrorCode::io,
                            engine::msg("{}: cannot be written.", file.toStdString()),
                            engine::msg("Choose a folder that you may write to."));
    }
}

QString SettingsModel::errorAt(const QString& path) const {
    for (const auto& error : errors_) {
        if (QString::fromStdString(error.field) == path) return engineText(error.allowed);
    }
    return {};
}

void SettingsModel::setComparison(const QStringList& presets) {
    if (presets == comparison_) return;
    comparison_ = presets;
    emit changed();
}

std::vector<engine::RunConfig> SettingsModel::comparisonConfigs() const {
    std::vector<engine::RunConfig> configs;
    for (const QString& preset : comparison_) {
        engine::RunConfig config = config_;
        config.precision = {};
        config.precision.preset = preset.toStdString();
        configs.push_back(std::move(config));
    }
    return configs;
}

bool SettingsModel::usesScaler() const {
    const auto scaled = [](const engine::RunConfig& config) {
        return engine::resolve(config.precision).scaler != "off";
    };
    const auto configs = comparisonConfigs();
    return std::any_of(configs.begin(), configs.end(), scaled) || scaled(config_);
}

}  // namespace ui
