// Undo and redo of the settings.
#include <QJsonDocument>
#include <QTimer>

#include "models/settings_model.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::size_t mostChanges = 200;

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
    if (undone_.size() > mostChanges) undone_.erase(undone_.begin());
}

void SettingsModel::step(std::vector<State>& from, std::vector<State>& to) {
    if (from.empty()) return;
    const State back = std::move(from.back());
    from.pop_back();
    to.push_back(state(back.path));
    config_ = back.config;
    json_ = QJsonDocument::fromJson(QByteArray::fromStdString(engine::to_json(config_))).object();
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
    QJsonValue value = json_;
    for (const QString& part : path.split(u'.')) value = value.toObject().value(part);
    if (!value.isDouble()) return false;
    // Some numbers have a word beside them.
    const auto parsed = engine::parse_run_config("{}", {(path + u"=auto"_s).toStdString()});
    return std::ranges::any_of(parsed.errors, [&](const engine::SettingError& error) {
        return QString::fromStdString(error.field) == path;
    });
}

}  // namespace ui
