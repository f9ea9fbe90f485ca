#include "network/network_settings.h"

#include <QScopedValueRollback>
#include <algorithm>

#include "engine/settings/catalog.h"
#include "models/settings_model.h"
#include "network/network_files.h"
#include "network/network_model.h"
#include "text/format.h"

namespace ui {
namespace {

/// The kind of model whose network is a text of the settings.
const std::string& kindOfTexts() {
    static const std::string kind = std::ranges::find_if(engine::models(), &engine::ModelDescriptor::from_text)->kind;
    return kind;
}

}  // namespace

NetworkSettings::NetworkSettings(SettingsModel* settings, NetworkModel* model, NetworkFiles* files)
    : QObject(model), settings_(settings), model_(model), files_(files), kind_(settings->config().model.kind) {
    trained_ = kind_ == kindOfTexts();
    seen_ = linesInSettings();
    options_ = settings_->config().model.options;
    if (trained_ && !seen_.isEmpty() && seen_ != textLines(model_->text())) {
        files_->setAside();  // a draft of the last start
        showText();
    } else if (trained_) {
        takeOptions();
    }
    connect(settings_, &SettingsModel::changed, this, &NetworkSettings::followSettings);
    connect(model_, &NetworkModel::checked, this, &NetworkSettings::followText);
    connect(files_, &NetworkFiles::changed, this, &NetworkSettings::followText);
    connect(files_, &NetworkFiles::returned, this, [this] {
        if (trained_ && seen_ == textLines(model_->text())) takeOptions();
    });
    const auto trainOwn = [this] {
        if (!model_->isReadOnly() && !files_->isRun()) train();
    };
    connect(model_, &NetworkModel::readOnlyChanged, this, trainOwn);
    connect(model_, &NetworkModel::replaced, this, [this, trainOwn] {
        written_.clear();
        trainOwn();
    });
}

QStringList NetworkSettings::linesInSettings() const { return stringList(settings_->config().model.network.all); }

void NetworkSettings::train() {
    if (trained_) return;
    trained_ = true;
    followText();
    emit changed();
}

void NetworkSettings::showText() {
    const QScopedValueRollback writing(writing_, true);
    const auto& model = settings_->config().model;
    const QString text = linesInSettings().join(u'\n') + u'\n';
    files_->showText(text, QString::fromStdString(engine::model_name(model)) + u".network"_s, QString::fromStdString(model.path));
    takeOptions();
}

void NetworkSettings::takeOptions() {
    const engine::Options given = settings_->config().model.options;
    const engine::Options shown = model_->options();
    for (const auto& [name, value] : shown)
        if (!given.contains(name)) model_->resetOption(name);
    for (const auto& [name, value] : given) model_->setOption(name, value);
}

void NetworkSettings::followSettings() {
    if (writing_) return;
    const std::string kind = settings_->config().model.kind;
    const QStringList lines = linesInSettings();
    const bool other = kind != kind_ || lines != seen_;
    const bool otherOptions = settings_->config().model.options != options_;
    kind_ = kind;
    seen_ = lines;
    options_ = settings_->config().model.options;
    const bool own = kind == kindOfTexts();
    if (!other && otherOptions && own && trained_ && !files_->isRun()) takeOptions();
    if (!other) return;
    if (!own) {
        trained_ = false;
        settings_->setTextProblem({});
        const QString name = QString::fromStdString(kind);
        if (!files_->isEdited() && files_->file().isEmpty() && files_->isTemplate(name)) files_->showTemplate(name);
    } else if (!lines.isEmpty() && lines != textLines(model_->text())) {
        trained_ = true;
        const QString text = lines.join(u'\n') + u'\n';
        if (!model_->isReadOnly() && written_.contains(qHash(text))) {
            model_->replaceText(text);  // an earlier state of this text, taken back in the settings
            takeOptions();
        } else {
            files_->setAside();
            showText();
        }
    } else {
        trained_ = true;
        if (!lines.isEmpty()) takeOptions();
        followText();
    }
    emit changed();
}

void NetworkSettings::followText() {
    if (writing_ || !trained_ || model_->isReadOnly() || files_->isRun()) return;
    if (model_->now().text != model_->text()) return;  // its own check follows
    const auto faults = model_->faults().size();
    settings_->setTextProblem(faults == 0   ? engine::Message()
                              : faults == 1 ? engine::msg("{} has an error, which the page Network shows.", files_->name().toStdString())
                                            : engine::msg("{} has {} errors, which the page Network lists.", files_->name().toStdString(), faults));
    if (faults == 0) write();
}

void NetworkSettings::write() {
    const QScopedValueRollback writing(writing_, true);
    engine::RunConfig config = settings_->config();
    auto& model = config.model;
    std::vector<std::string> lines;
    for (const QString& line : textLines(model_->text())) lines.push_back(line.toStdString());
    engine::Options options = model_->options();
    engine::complete(options, model_->now().network.options);
    std::erase_if(options, [this](const auto& each) { return engine::find_option(model_->now().network.options, each.first) == nullptr; });
    written_ << qHash(textLines(model_->text()).join(u'\n') + u'\n');
    const std::string path = files_->isEdited() ? std::string() : files_->file().toStdString();
    if (model.kind == kindOfTexts() && model.network.all == lines && model.options == options && model.path == path) return;
    model.kind = kindOfTexts();
    model.network.all = std::move(lines);
    model.options = std::move(options);
    model.path = path;
    model.sha256.clear();
    model.notation = 0;
    settings_->load(config);
    kind_ = model.kind;
    seen_ = linesInSettings();
    options_ = settings_->config().model.options;
}

}  // namespace ui
