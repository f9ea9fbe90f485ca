#include "models/settings_model.h"

#include <QFile>
#include <QJsonDocument>
#include <QSettings>
#include <QTimer>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "engine/parallel/launch.h"
#include "engine/runs/comparison.h"
#include "engine/runs/settings_presets.h"
#include "engine/settings/catalog.h"
#include "models/settings_json.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"
#include "text/setting_text.h"

namespace ui {
namespace {

const QString ratePath = u"optimizer.lr"_s;

}  // namespace

engine::RunConfig windowDefaults() {
    engine::RunConfig config = engine::default_comparison();
    config.instruments.histograms_every = engine::automatic_histograms;
    return config;
}

QStringList defaultComparison() {
    return stringList(engine::default_precisions());
}

SettingsModel::SettingsModel(QObject* parent)
    : QObject(parent),
      config_(windowDefaults()),
      json_(settingsObject(config_)),
      defaults_(json_),
      comparison_(defaultComparison()) {
    checkSettings();
}

namespace {

/// Files have parts of recipes and faults only where they differ from the default.
QString textIn(const QJsonObject& json, const QString& path) {
    const QJsonValue value = valueAt(json, path);
    const bool leftOut = path.startsWith(u"quantize."_s) || path.startsWith(u"teach."_s);
    if (!value.isUndefined() || !leftOut) return settingText(value);
    const std::string text = engine::setting_text(engine::RunConfig{}, path.toStdString());
    const QString all = QString::fromStdString(text);
    return all.startsWith(u'"') ? all.sliced(1, all.size() - 2) : all;
}

}  // namespace

QString SettingsModel::text(const QString& path) const {
    return refused_.value(path, textIn(json_, path));
}

std::shared_ptr<const engine::FieldInfo> SettingsModel::field(const QString& path) const {
    return engine::find_field(path.toStdString(), config_);
}

QString SettingsModel::label(const QString& path) const {
    if (path == u"scaler.init_scale"_s && hasStaticScale()) return tr("Static scale");
    const auto info = field(path);
    return info != nullptr ? engineText(info->label) : path;
}

QString SettingsModel::defaultText(const QString& path) const {
    if (const auto model = engine::find_model(config_.model);
        model != nullptr && model->from_text && path.startsWith(u"model.options."_s))
        return settingText(valueAt(defaultsOfText(), path));
    // These follow a choice, so their default is the value that it brings.
    const auto info = field(path);
    const bool option = info != nullptr && !info->kinds.empty();
    const bool scaler = path.startsWith(u"scaler."_s) && path != u"scaler.preset"_s;
    if (option || scaler) {
        const QString chosen = scaler ? u"scaler.preset"_s : path.section(u'.', 0, 0) + u".kind"_s;
        const QString choice = settingText(valueAt(json_, chosen));
        // Every field asks after every change: parsing anew would be most of a window's start.
        const QString brought = chosen + u'=' + choice;
        auto found = defaultsOf_.constFind(brought);
        if (found == defaultsOf_.cend()) {
            const auto parsed = engine::parse_run_config("{}", {brought.toStdString()});
            found = defaultsOf_.insert(brought, settingsObject(parsed.config));
        }
        return settingText(valueAt(*found, path));
    }
    return textIn(defaults_, path);
}

QJsonObject SettingsModel::defaultsOfText() const {
    // Equal texts have equal defaults.
    const auto read = engine::read_network(config_.model.network);
    const QString text = QString::fromStdString(config_.model.kind) + u" model.sha256="_s + QString::fromStdString(read->sha256);
    auto found = defaultsOf_.constFind(text);
    if (found == defaultsOf_.cend()) {
        engine::RunConfig usual = config_;
        usual.model.options.clear();
        found = defaultsOf_.insert(text, settingsObject(usual));
    }
    return *found;
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
        if (parsed.config.model.network != config_.model.network)  // it has other options
            refused_.removeIf([](QMap<QString, QString>::iterator each) {
                return each.key().startsWith(u"model.options."_s);
            });
        config_ = parsed.config;
        json_ = settingsObject(config_);
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
    const auto info = field(path);
    if (path == u"scaler.preset"_s || path == u"optimizer.kind"_s || path == u"model.kind"_s ||
        path == u"schedule.kind"_s) {
        // The new choice has its own defaults, so values of the old choice are removed; a rate that
        // was typed is no default.
        const QJsonValue rate = inside.value(u"lr"_s);
        inside = QJsonObject{{path.section(u'.', 1), text}};
        if (section == u"optimizer"_s && ratePicked_) inside[u"lr"_s] = rate;
    } else if (path == u"dataset.kind"_s) {
        // Options of the old data set would cling to the new one, without effect.
        for (const auto& each : engine::fields(config_)) {
            const QString option = QString::fromStdString(each.path);
            const bool others =
                !each.kinds.empty() &&
                std::ranges::find(each.kinds, text.toStdString()) == each.kinds.end();
            if (others && option.startsWith(u"dataset."_s))
                removeValueAt(inside, option.section(u'.', 1));
        }
        overrides.push_back((path + u'=' + text).toStdString());
    } else if (info != nullptr && (info->optional || !info->kinds.empty()) && text.isEmpty()) {
        removeValueAt(inside,
                      path.section(u'.', 1));  // the preset's value, or the option's default
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
    for (auto& error : data_.unknownColumns(config_)) add(std::move(error));
    if (!textProblem_.empty()) add({"model.network", {}, textProblem_});
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
    json_ = settingsObject(config_);
    refused_.clear();
    // A rate from a file may have been typed; the first rate of all was not.
    ratePicked_ =
        isChanged(ratePath) && text(ratePath) != settingText(valueAt(defaults_, ratePath));
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
    std::vector<engine::Message> notes = parsed.notes;
    if (const auto note = engine::other_text_in_file(parsed.config.model); !note.empty())
        notes.push_back(note);
    load(parsed.config, stringList(parsed.compared), std::move(notes));
}

void SettingsModel::saveFile(const QString& file) const {
    engine::write_named_file(file.toStdString(), toJson().toStdString());
}

QByteArray SettingsModel::toJson() const {
    std::vector<std::string> compared;
    for (const QString& preset : comparison_) compared.push_back(preset.toStdString());
    return QByteArray::fromStdString(engine::to_json(config_, compared));
}

QString SettingsModel::errorAt(const QString& path) const {
    for (const auto& error : errors_) {
        const QString field = QString::fromStdString(error.field);
        const bool option = field.startsWith(path + u'.');  // of model.options
        // Fields that follow from the network file are not in the window.
        const auto* brought = path == u"model.path"_s ? engine::find_field(error.field) : nullptr;
        const bool text = brought != nullptr && brought->in_files;
        if (field == path || option || text) return settingErrorText(error);
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

SettingsMemory::SettingsMemory(SettingsModel* settings, QObject* parent)
    : QObject(parent), settings_(settings) {
    restore();
    settings_->forgetChanges();
    connect(settings_, &SettingsModel::changed, this, &SettingsMemory::keep);
}

/// Takes what this version can use of the last settings. Where that is not all, they stay as a
/// preset too, and a note says what was rejected: the next change replaces the last settings.
void SettingsMemory::restore() {
    constexpr std::size_t mostNotes = 3;
    const std::string kept = QSettings().value(u"settings"_s).toByteArray().toStdString();
    const auto parsed = engine::parse_run_config(kept);
    const auto rejected = engine::replaced_settings(parsed);
    const bool damaged = !rejected.empty() && rejected.front().field == "(file)";
    if (kept.empty() || damaged) return;
    std::vector<engine::Message> notes;
    for (const auto& error : rejected) {
        if (notes.size() == mostNotes) break;
        notes.push_back(engine::msg("Of your last settings, {} = {} is not valid in this version "
                                    "({}), so the default is used.",
                                    error.field, error.value, error.allowed.str()));
    }
    if (!rejected.empty()) notes.push_back(keepRejected(kept));
    settings_->load(parsed.config, stringList(parsed.compared), std::move(notes));
}

engine::Message SettingsMemory::keepRejected(const std::string& json) {
    try {
        const auto file = engine::save_settings_preset("rejected-settings", json);
        return engine::msg("All of them are kept in {}.", file.string());
    } catch (const engine::Error& error) {
        return error.message();
    }
}

void SettingsMemory::keep() const { QSettings().setValue(u"settings"_s, settings_->toJson()); }

namespace {

constexpr std::size_t maxChanges = 200;

}  // namespace

SettingsModel::State SettingsModel::state(const QString& path) const {
    return {path, config_, refused_, notes_, comparison_, ratePicked_};
}

void SettingsModel::remember(const QString& path) {
    if (sameTurn_) return;  // follows from the change that is there
    sameTurn_ = true;
    QTimer::singleShot(0, this, [this] { sameTurn_ = false; });
    redone_.clear();
    undone_.push_back(state(path));
    if (undone_.size() > maxChanges) undone_.erase(undone_.begin());
}

void SettingsModel::step(std::vector<State>& from, std::vector<State>& to) {
    if (from.empty()) return;
    const State back = std::move(from.back());
    from.pop_back();
    to.push_back(state(back.path));
    config_ = back.config;
    json_ = settingsObject(config_);
    refused_ = back.refused;
    notes_ = back.notes;
    comparison_ = back.comparison;
    ratePicked_ = back.ratePicked;
    sameTurn_ = true;  // what follows from this change is no change of its own
    checkSettings();
    emit changed();
    sameTurn_ = false;
}

std::optional<QString> SettingsModel::nameOf(const std::vector<State>& states) const {
    if (states.empty()) return std::nullopt;
    const QString& path = states.back().path;
    return path.isEmpty() ? QString() : label(path);
}

void SettingsModel::forgetChanges() {
    undone_.clear();
    redone_.clear();
}

bool SettingsModel::takesNumber(const QString& path) const {
    if (!valueAt(json_, path).isDouble()) return false;
    // Some numbers have a word beside them.
    const auto parsed = engine::parse_run_config("{}", {(path + u"=auto"_s).toStdString()});
    return std::ranges::any_of(parsed.errors, [&](const engine::SettingError& error) {
        return QString::fromStdString(error.field) == path;
    });
}

bool SettingsModel::applies(const QString& path) const {
    if (path == u"clip.value"_s) return config_.clip.kind != engine::ClipKind::none;
    if (path == u"early_stopping.min_delta"_s) return config_.early_stopping.patience > 0;
    // The precision decides, unless something else was chosen.
    if (path == u"precision.scaler"_s) return config_.precision.scaler.has_value();
    if (hasStaticScale() && path.startsWith(u"scaler."_s)) return path == u"scaler.init_scale"_s;
    if (path.startsWith(u"scaler."_s)) return usesScaler();
    if (path.startsWith(u"quantize."_s))
        return engine::find_kind(engine::precisions(), config_.precision.preset) != nullptr &&
               engine::resolve(config_.precision).has_recipe();
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
    if (path == u"model.path"_s) {
        const auto model = engine::find_model(config_.model);
        return model != nullptr && model->from_text;
    }
    const auto info = field(path);
    if (info == nullptr || info->kinds.empty()) return true;
    // An option belongs to the kinds of its section that have it.
    const std::string kind = text(path.section(u'.', 0, 0) + u".kind"_s).toStdString();
    if (std::find(info->kinds.begin(), info->kinds.end(), kind) == info->kinds.end()) return false;
    return info->needs.empty() || text(QString::fromStdString(info->needs)) == u"true"_s;
}

QString SettingsModel::dataKey() const { return SettingsData::keyOf(config_); }

void SettingsModel::setData(const QString& key, engine::DatasetPreview data) {
    if (data_.take(config_, key, std::move(data))) checkSettings();
    emit changed();
}

const engine::DatasetPreview* SettingsModel::data() const { return data_.preview(config_); }

QStringList SettingsModel::tableColumns() const { return data_.columns(config_); }

std::vector<engine::Metric> SettingsModel::metrics() const {
    const auto* read = data();
    return read != nullptr ? engine::metrics_of(config_, *read) : engine::metrics_of(config_);
}

void SettingsModel::setLimits(const DeviceLimits& limits) {
    limits_ = limits;
    checkSettings();
    emit changed();
}

void SettingsModel::setTextProblem(engine::Message problem) {
    if (problem.str() == textProblem_.str()) return;
    textProblem_ = std::move(problem);
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
