#include "network/network_model.h"

#include <QPlainTextDocumentLayout>
#include <QTextBlock>
#include <QTextCursor>
#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "engine/train/machine.h"
#include "feed/background_task.h"
#include "models/settings_model.h"
#include "network/network_changes.h"
#include "network/network_repr.h"
#include "text/language.h"

namespace ui {
namespace {

/// `steps`: as NetworkModel::steps().
NetworkView viewOf(QString text, engine::NetworkData data, std::vector<engine::RunConfig> steps, double limit, ChosenRuns chosen) {
    NetworkView view;
    const std::string utf8 = text.toStdString();
    view.network = engine::check_network(utf8, data);
    view.types = predictTypes(utf8, view.network, data, steps.back().precision);
    for (auto& step : steps)
        for (const std::string& key : view.types.unknown) step.precision.force.erase(key);
    const engine::RunConfig shown = std::move(steps.back());
    steps.pop_back();
    view.memory = predictMemory(utf8, view.network, data, steps, shown, limit);
    view.lines = networkLines(text);
    fitRuns(chosen, view.network);
    view.rows = networkRows(view.lines, view.network, chosen, view.memory.saved);
    view.chosen = std::move(chosen);
    view.text = std::move(text);
    view.data = std::move(data);
    return view;
}

/// All that predicted types and memory depend on.
QString keyOf(const std::vector<engine::RunConfig>& steps) {
    std::string key;
    const auto word = [](const auto& value) { return value ? ' ' + engine::word_of(*value) : std::string(" -"); };
    for (const auto& step : steps) {
        const engine::PrecisionConfig& precision = step.precision;
        key += precision.preset + word(precision.weights) + word(precision.autocast) + word(precision.batch_norm);
        if (precision.master_weights) key += *precision.master_weights ? " true" : " false";
        key += '\n';
        for (const auto& [name, type] : precision.force) key += name + '=' + std::string(engine::word_of(type)) + '\n';
    }
    const engine::RunConfig& own = steps.back();
    key += own.optimizer.kind + ' ' + own.device + ' ' + std::to_string(own.batch_size) + ' ' + std::to_string(own.bptt);
    for (const auto& [name, value] : own.optimizer.options) key += ' ' + name + '=' + engine::to_string(value);
    return QString::fromStdString(key);
}

const engine::NetworkInput* inputOf(const engine::NetworkData& data, const std::string& field) {
    const auto found = std::ranges::find(data.inputs, field, &engine::NetworkInput::field);
    return found == data.inputs.end() ? nullptr : &*found;
}

}  // namespace

NetworkModel::NetworkModel(const Context& context, QObject* parent) : QObject(parent), settings_(context.settings) {
    document_.setDocumentLayout(new QPlainTextDocumentLayout(&document_));
    wait_.setSingleShot(true);
    wait_.setInterval(checkAfter);
    connect(&wait_, &QTimer::timeout, this, &NetworkModel::check);
    connect(&document_, &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
        if (removed != 0 || added != 0) checkSoon();
    });
    if (settings_ == nullptr) return;
    followSettings();
    connect(settings_, &SettingsModel::changed, this, &NetworkModel::followSettings);
    findLimit();
}

void NetworkModel::findLimit() {
    inBackground(
        this, [] { return engine::inspect_machine(); },
        [this](const engine::MachineReport& machine) {
            machineLimit_ = static_cast<double>(machine.memory_bytes);
            for (const auto& card : machine.cards)
                if (cardLimit_ == 0) cardLimit_ = static_cast<double>(card.memory_bytes);
            if (!text().isEmpty()) checkSoon();
        });
}

/// The first card stands for all.
double NetworkModel::limit() const {
    const bool cpu = settings_ == nullptr || settings_->config().device == "cpu" || cardLimit_ == 0;
    return cpu ? machineLimit_ : cardLimit_;
}

/// Other data have other sizes, and the files of some say them only when they have been read.
void NetworkModel::followSettings() {
    const auto& config = settings_->config();
    const QString samples = settings_->dataKey();
    if (samples != samples_) {
        image_.reset();
        outputs_.reset();
    }
    const auto* read = settings_->data();
    const QString sizes = QStringList{samples, QString::fromStdString(config.task.kind), QString::fromStdString(config.model.kind),
                                      read != nullptr && read->schema ? u"read"_s : QString(), keyOf(steps())}
                              .join(u'\n');
    samples_ = samples;
    if (std::exchange(sizes_, sizes) != sizes && !text().isEmpty()) checkSoon();
}

/// The sizes that the settings' network has; nothing if their data are not for it.
std::optional<engine::NetworkData> NetworkModel::dataOfSettings() const {
    if (settings_ == nullptr) return {};
    try {
        const auto* read = settings_->data();
        return read != nullptr ? engine::network_data(settings_->config(), *read) : engine::network_data(settings_->config());
    } catch (const engine::Error&) {
        return {};
    }
}

engine::NetworkData NetworkModel::readData(const std::string& text) {
    engine::NetworkData data = engine::usual_network_data(text);
    const auto* set = settings_ != nullptr ? engine::find_dataset(settings_->config().dataset.kind) : nullptr;
    const auto given = dataOfSettings();
    bool known = false;
    for (engine::NetworkInput& input : data.inputs) {
        if (input.field == "image" && image_) {
            input.sizes = *image_;
            continue;
        }
        if (const auto* own = given ? inputOf(*given, input.field) : nullptr) {
            known = true;
            input = *own;
            data.outputs = given->outputs;
        } else if (set != nullptr && input.field == set->input) {
            known = true;
            if (input.field == "tokens")
                input.counts = {std::max<std::int64_t>(set->classes, 1)};
            else
                input.sizes = set->sample_shape;
            if (set->classes > 0) data.outputs = set->classes;
        }
    }
    if (outputs_) data.outputs = *outputs_;
    const auto* read = settings_ != nullptr ? settings_->data() : nullptr;
    const bool typical = set != nullptr && set->files_decide && (read == nullptr || !read->schema);
    dataTitle_ = known && !outputs_ && !typical ? engineText(set->title) : QString();
    data.options = options_;
    return data;
}

void NetworkModel::setText(const QString& text) {
    options_.clear();
    now_.chosen.clear();
    document_.setPlainText(text);
    document_.setModified(false);
    emit replaced();
    wait_.stop();
    check();
}

void NetworkModel::replaceText(const QString& text) {
    QTextCursor cursor(&document_);
    cursor.beginEditBlock();
    cursor.select(QTextCursor::Document);
    cursor.insertText(text);
    cursor.endEditBlock();
}

void NetworkModel::setReadOnly(bool readOnly) {
    if (readOnly == readOnly_) return;
    readOnly_ = readOnly;
    emit readOnlyChanged();
}

void NetworkModel::checkSoon() { wait_.start(); }

void NetworkModel::check() {
    if (checking_) {
        again_ = true;
        return;
    }
    checking_ = true;
    QString text = this->text();
    data_ = readData(text.toStdString());
    inBackground(
        this, [text = std::move(text), data = data_, steps = steps(), limit = limit(), chosen = now_.chosen] { return viewOf(text, data, steps, limit, chosen); },
        [this](NetworkView view) {
            checking_ = false;
            if (std::exchange(again_, false)) return check();
            take(std::move(view));
        });
}

void NetworkModel::checkNow() {
    if (!isChecking()) return;
    wait_.stop();
    again_ = checking_;  // what is under way has an older text
    const QString text = this->text();
    data_ = readData(text.toStdString());
    take(viewOf(text, data_, steps(), limit(), now_.chosen));
}

void NetworkModel::take(NetworkView view) {
    now_ = std::move(view);
    // An option that the text has given another type has its default again.
    const auto changed = std::erase_if(options_, [this](const auto& set) {
        const auto* spec = engine::find_option(now_.network.options, set.first);
        return spec != nullptr && spec->default_value.index() != set.second.index();
    });
    if (changed > 0) checkSoon();
    if (now_.network.usable()) good_ = now_;
    compare();
    matchMeasured();
    emit checked();
}

std::vector<engine::NetworkFault> NetworkModel::faults() const {
    std::vector<engine::NetworkFault> faults;
    std::ranges::copy_if(now_.network.faults, std::back_inserter(faults), [](const auto& fault) { return !fault.note; });
    return faults;
}

void NetworkModel::setImage(std::vector<std::int64_t> sizes) {
    image_ = std::move(sizes);
    checkSoon();
}

void NetworkModel::setOutputs(std::int64_t outputs) {
    if (outputs == data_.outputs) return;
    outputs_ = outputs;
    checkSoon();
}

void NetworkModel::setSizes(const engine::NetworkData& data) {
    const auto image = std::ranges::find(data.inputs, "image", &engine::NetworkInput::field);
    if (image != data.inputs.end()) image_ = image->sizes;
    outputs_ = data.outputs;
    checkSoon();
}

void NetworkModel::setOption(const std::string& name, const engine::OptionValue& value) {
    if (const auto found = options_.find(name); found != options_.end() && found->second == value) return;
    options_[name] = value;
    checkSoon();
}

void NetworkModel::resetOption(const std::string& name) {
    if (options_.erase(name) > 0) checkSoon();
}

void NetworkModel::setRunText(std::optional<QStringList> lines, const QString& run) {
    if (lines == runText_ && run == run_) return;
    runText_ = std::move(lines);
    run_ = run;
    compare();
    emit checked();
}

void NetworkModel::compare() {
    changed_ = runText_ && !now_.text.isEmpty() ? changedLines(*runText_, textLines(now_.text)) : std::set<int>();
}

std::string NetworkModel::preset() const {
    if (!preset_.empty()) return preset_;
    if (!traced_.preset.empty()) return traced_.preset;
    if (settings_ == nullptr) return engine::PrecisionConfig().preset;
    const QStringList compared = settings_->comparison();
    return compared.isEmpty() ? settings_->config().precision.preset : compared.back().toStdString();
}

/// A preset that is not that of the settings has its own values.
engine::PrecisionConfig NetworkModel::precision() const {
    engine::PrecisionConfig own = settings_ != nullptr ? settings_->config().precision : engine::PrecisionConfig();
    const std::string wanted = preset();
    if (own.preset == wanted) return own;
    return {.preset = wanted, .force = own.force};
}

std::vector<engine::RunConfig> NetworkModel::steps() const {
    std::vector<engine::RunConfig> steps;
    if (settings_ != nullptr) steps = settings_->comparisonConfigs();
    steps.push_back(shownSettings());
    return steps;
}

engine::RunConfig NetworkModel::shownSettings() const {
    engine::RunConfig shown = settings_ != nullptr ? settings_->config() : engine::RunConfig();
    shown.precision = precision();
    return shown;
}

void NetworkModel::setPreset(const std::string& preset) {
    if (std::exchange(preset_, preset) != preset && !text().isEmpty()) checkSoon();
}

void NetworkModel::setMeasured(TracedStep step) {
    if (step == traced_) return;
    const std::string before = this->preset();
    if (!step.types.empty()) preset_.clear();
    traced_ = std::move(step);
    if (this->preset() != before && !text().isEmpty()) checkSoon();
    matchMeasured();
    emit checked();
}

void NetworkModel::matchMeasured() {
    measuredRows_.clear();
    newer_.clear();
    if (traced_.types.empty() || traced_.lines.isEmpty() || now_.text.isEmpty()) return;
    newer_ = changedLines(traced_.lines, textLines(now_.text), false);
    auto rows = measuredByRow(now_.types, traced_.types, traced_.lines == textLines(now_.text));
    bool any = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (newer_.contains(now_.network.rows[i].place.line)) rows[i].clear();
        any = any || !rows[i].empty();
    }
    if (any) measuredRows_ = std::move(rows);
}

std::optional<engine::ForcedType> NetworkModel::forced(const std::string& key) const {
    if (settings_ == nullptr) return {};
    const auto& forced = settings_->config().precision.force;
    const auto found = forced.find(key);
    return found == forced.end() ? std::nullopt : std::optional(found->second);
}

void NetworkModel::force(const std::string& key, std::optional<engine::ForcedType> type) {
    if (settings_ == nullptr || type == forced(key)) return;
    engine::RunConfig config = settings_->config();
    config.precision.force.erase(key);
    if (type) config.precision.force.emplace(key, *type);
    settings_->load(config);
}

void NetworkModel::choose(int line, int run) {
    for (NetworkView* view : {&now_, &good_}) {
        chooseRun(view->chosen, view->network, line, run);
        view->rows = networkRows(view->lines, view->network, view->chosen, view->memory.saved);
    }
    emit checked();
}

int NetworkModel::position(const engine::TextPlace& place) const {
    const QTextBlock block = document_.findBlockByNumber(place.line - 1);
    if (!block.isValid()) return -1;
    // Columns count characters; QString has two units for one beyond the first plane.
    const QString text = block.text();
    qsizetype unit = 0;
    for (int column = 1; column < place.column && unit < text.size(); ++column)
        unit += text.at(unit).isHighSurrogate() && unit + 1 < text.size() ? 2 : 1;
    return block.position() + static_cast<int>(unit);
}

void NetworkModel::convertRepr(int position, const QString& print) {
    const QTextBlock block = document_.findBlock(position);
    if (readOnly_ || !block.isValid() || text().mid(position, print.size()) != print) return;
    const QString before = block.text().left(position - block.position());
    const bool alone = before.trimmed().isEmpty();
    QTextCursor cursor(&document_);
    cursor.setPosition(alone ? block.position() : position);
    cursor.setPosition(position + static_cast<int>(print.size()), QTextCursor::KeepAnchor);
    const int indent = alone ? static_cast<int>(before.size()) : 0;
    cursor.insertText((alone ? QString() : u"\n"_s) + fromModuleRepr(print, indent) + (print.endsWith(u'\n') ? u"\n"_s : QString()));
}

void NetworkModel::replace(const engine::NetworkFault& fault) {
    if (now_.text != text()) return;  // the fault's place is that of another text
    const int from = position(fault.place);
    engine::TextPlace behind = fault.place;
    behind.column += behind.length;
    const int to = position(behind);
    if (from < 0 || to < from || !fault.replacement || readOnly_) return;
    QTextCursor cursor(&document_);
    cursor.setPosition(from);
    cursor.setPosition(to, QTextCursor::KeepAnchor);
    cursor.insertText(QString::fromStdString(*fault.replacement));
}

}  // namespace ui
