#include "network/network_files.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "commands/commands.h"
#include "engine/network/network.h"
#include "network/network_model.h"
#include "text/named_output.h"

namespace ui {
namespace {

constexpr int draftAfter = 500;  // ms

/// Nothing if it cannot be read, or is too long to be a network.
std::optional<QByteArray> readText(const QString& file) {
    QFile in(file);
    if (file.isEmpty() || !in.open(QIODevice::ReadOnly)) return {};
    QByteArray bytes = in.read(NetworkFiles::longest + 1);
    return bytes.size() > NetworkFiles::longest ? std::nullopt : std::optional(std::move(bytes));
}

QString textOf(const QByteArray& bytes) {
    QString text = QString::fromUtf8(bytes);
    if (text.startsWith(QChar(QChar::ByteOrderMark))) text.remove(0, 1);
    return text.replace(u"\r\n"_s, u"\n"_s);
}

/// Settings do not keep whether the last line has an end.
bool sameLines(const QString& text, const QString& other) {
    const auto ended = [](const QString& each) { return each.endsWith(u'\n') ? each : each + u'\n'; };
    return ended(text) == ended(other);
}

QString hashOf(const QByteArray& bytes) {
    return QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
}

QJsonValue jsonOf(bool value) { return value; }
QJsonValue jsonOf(std::int64_t value) { return QJsonValue(static_cast<qint64>(value)); }
QJsonValue jsonOf(double value) { return value; }
QJsonValue jsonOf(const std::string& value) { return QString::fromStdString(value); }
template <typename Each>
QJsonValue jsonOf(const std::vector<Each>& values) {
    QJsonArray array;
    for (const Each& each : values) array << jsonOf(each);
    return array;
}

template <typename Value>
Value valueOf(const QJsonValue& json) {
    if constexpr (std::is_same_v<Value, bool>)
        return json.toBool();
    else if constexpr (std::is_same_v<Value, std::int64_t>)
        return json.toInteger();
    else if constexpr (std::is_same_v<Value, double>)
        return json.toDouble();
    else if constexpr (std::is_same_v<Value, std::string>)
        return json.toString().toStdString();
    else {
        Value values;
        for (const auto& each : json.toArray()) values.push_back(valueOf<typename Value::value_type>(each));
        return values;
    }
}

/// The place of its type among the types of options, and the value: 2 may be a whole number or not.
QJsonArray typedValue(const engine::OptionValue& value) {
    return {static_cast<int>(value.index()), std::visit([](const auto& each) { return jsonOf(each); }, value)};
}

std::optional<engine::OptionValue> typedValue(const QJsonArray& json) {
    const QJsonValue value = json.at(1);
    switch (json.at(0).toInt(-1)) {
        case 0: return valueOf<bool>(value);
        case 1: return valueOf<std::int64_t>(value);
        case 2: return valueOf<double>(value);
        case 3: return valueOf<std::string>(value);
        case 4: return valueOf<std::vector<std::int64_t>>(value);
        case 5: return valueOf<std::vector<std::string>>(value);
        default: return {};
    }
}

}  // namespace

QString NetworkFiles::draftFile() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + u"/halftone/network-draft.json"_s;
}

NetworkFiles::NetworkFiles(const Context& context, NetworkModel* model) : QObject(model), context_(context), model_(model) {
    draft_.setSingleShot(true);
    draft_.setInterval(draftAfter);
    connect(&draft_, &QTimer::timeout, this, &NetworkFiles::keepDraft);
    connect(model->document(), &QTextDocument::contentsChanged, this, [this] { draft_.start(); });
    connect(model->document(), &QTextDocument::modificationChanged, this, &NetworkFiles::changed);
    connect(&watcher_, &QFileSystemWatcher::fileChanged, this, &NetworkFiles::lookAtFile);
    if (auto* program = QCoreApplication::instance())
        connect(program, &QCoreApplication::aboutToQuit, this, &NetworkFiles::keepDraft);
    QFile in(draftFile());
    if (!in.open(QIODevice::ReadOnly)) return;
    const QJsonObject kept = QJsonDocument::fromJson(in.readAll()).object();
    for (const auto& each : kept[u"aside"].toArray()) aside_ << each.toObject();
    if (!kept[u"text"].toString().isEmpty()) show(kept);
}

bool NetworkFiles::isEdited() const { return model_->document()->isModified(); }

void NetworkFiles::begin(const QString& text, const QString& name, const QString& file, bool readOnly) {
    leaveRun();
    name_ = name;
    follow(file);
    if (readOnly) model_->setReadOnly(true);
    model_->setText(text);
    model_->setReadOnly(readOnly);
    draft_.stop();
    keepDraft();
    emit changed();
}

bool NetworkFiles::isTemplate(const QString& name) {
    const auto names = engine::network_templates();
    return std::ranges::find(names, name.toStdString()) != names.end();
}

void NetworkFiles::showText(const QString& text, const QString& name, const QString& file) {
    const auto bytes = readText(file);
    onDisk_ = bytes.value_or(QByteArray());
    begin(text, name, file, false);
    if (!bytes || sameLines(textOf(*bytes), text)) return;
    changedOnDisk_ = true;
    model_->document()->setModified(true);
    draft_.start();
    emit changed();
}

void NetworkFiles::showTemplate(const QString& name) {
    begin(QString::fromStdString(engine::network_template(name.toStdString())), name + u".network"_s, {}, true);
}

void NetworkFiles::showImported(const QString& text, const QString& name) { begin(text, name, {}, true); }

void NetworkFiles::edit() {
    leaveRun();
    model_->setReadOnly(false);
    emit changed();
}

void NetworkFiles::showRun(const QString& text, const engine::Options& options, const QString& run) {
    if (!behind_) {
        QJsonObject before = draft();
        before[u"edited"_s] = isEdited();
        before[u"readOnly"_s] = model_->isReadOnly();
        behind_ = before;
    }
    name_ = tr("text of %1").arg(run);
    follow({});
    model_->setReadOnly(true);
    model_->setText(text);
    for (const auto& [name, value] : options) model_->setOption(name, value);
    emit changed();
}

void NetworkFiles::back() {
    if (!behind_) return;
    show(*behind_);
    if (!(*behind_)[u"edited"_s].toBool() && !changedOnDisk_) model_->document()->setModified(false);
    behind_.reset();
    emit returned();
    emit changed();
}

/// An edited text behind that of a run is kept as a draft.
void NetworkFiles::leaveRun() {
    if (behind_ && (*behind_)[u"edited"_s].toBool()) aside_ << *behind_;
    behind_.reset();
}

bool NetworkFiles::open(const QString& file) {
    const auto bytes = readText(file);
    if (!bytes) {
        context_.commands->report(Problem{tr("%1 cannot be read as a network.").arg(file),
                                          tr("Check that it is a text, and that you may read it."), engine::ErrorCode::data});
        return false;
    }
    onDisk_ = *bytes;
    begin(textOf(*bytes), QFileInfo(file).fileName(), QFileInfo(file).absoluteFilePath(), false);
    return true;
}

void NetworkFiles::save(const QString& file, const std::function<void()>& then) {
    const QByteArray bytes = model_->text().toUtf8();
    const QString target = QFileInfo(file).absoluteFilePath();
    if (!file_.isEmpty() && target == QFileInfo(file_).absoluteFilePath()) {
        lookAtFile();
        if (changedOnDisk_) return;
    }
    saving_ = bytes;
    const auto done = [this, target, bytes, then] {
        onDisk_ = bytes;
        name_ = QFileInfo(target).fileName();
        follow(target);
        if (model_->text().toUtf8() == bytes) {
            model_->document()->setModified(false);
            draft_.stop();
            keepDraft();
        }
        leaveRun();
        model_->setReadOnly(false);
        emit changed();
        if (then) then();
    };
    context_.commands->works()->start({tr("Saving %1").arg(QFileInfo(target).fileName()), target,
                                       [target, writer = writerOf(target, bytes)] {
                                           writer();
                                           return tr("Saved %1.").arg(target);
                                       },
                                       done, this});
}

void NetworkFiles::follow(const QString& file) {
    if (!watcher_.files().isEmpty()) watcher_.removePaths(watcher_.files());
    file_ = file;
    changedOnDisk_ = false;
    if (QFileInfo::exists(file)) watcher_.addPath(file);
}

/// A program that replaces a file ends the watch of the old one.
void NetworkFiles::lookAtFile() {
    if (!watcher_.files().contains(file_) && QFileInfo::exists(file_)) watcher_.addPath(file_);
    const auto bytes = readText(file_);
    if (!bytes || *bytes == onDisk_ || bytes == saving_) return;
    onDisk_ = *bytes;
    changedOnDisk_ = textOf(*bytes) != model_->text();
    emit changed();
}

void NetworkFiles::reload() {
    changedOnDisk_ = false;
    if (const auto bytes = readText(file_)) {
        onDisk_ = *bytes;
        model_->replaceText(textOf(*bytes));
        model_->document()->setModified(false);
    }
    emit changed();
}

void NetworkFiles::keepMine() {
    changedOnDisk_ = false;
    model_->document()->setModified(true);
    draft_.start();
    emit changed();
}

QJsonObject NetworkFiles::draft() const {
    QJsonObject options;
    for (const auto& [name, value] : model_->options()) options[QString::fromStdString(name)] = typedValue(value);
    return {{u"text"_s, model_->text()}, {u"name"_s, name_}, {u"file"_s, file_}, {u"sha256"_s, hashOf(onDisk_)}, {u"options"_s, options}};
}

/// Without a message if it cannot be written: the text is still here.
void NetworkFiles::keepDraft() const {
    QJsonObject kept;
    if (isEdited() && !model_->isReadOnly()) kept = draft();
    if (behind_ && (*behind_)[u"edited"_s].toBool()) kept = *behind_;
    if (!aside_.isEmpty()) {
        QJsonArray aside;
        for (const QJsonObject& each : aside_) aside << each;
        kept[u"aside"_s] = aside;
    }
    if (kept.isEmpty()) {
        QFile::remove(draftFile());
        return;
    }
    QDir().mkpath(QFileInfo(draftFile()).path());
    QSaveFile out(draftFile());
    if (out.open(QIODevice::WriteOnly) && out.write(QJsonDocument(kept).toJson()) >= 0) out.commit();
}

/// A draft of an earlier version does not say what its file had.
void NetworkFiles::show(const QJsonObject& kept) {
    const QString text = kept[u"text"].toString();
    const QString hash = kept[u"sha256"].toString();
    name_ = kept[u"name"].toString();
    const QString file = kept[u"file"].toString();
    const auto bytes = readText(file);
    onDisk_ = bytes.value_or(QByteArray());
    follow(file);
    model_->setReadOnly(kept[u"readOnly"_s].toBool());
    model_->setText(text);
    model_->document()->setModified(true);
    const QJsonObject options = kept[u"options"].toObject();
    for (auto each = options.begin(); each != options.end(); ++each)
        if (const auto value = typedValue(each.value().toArray())) model_->setOption(each.key().toStdString(), *value);
    changedOnDisk_ = bytes && !hash.isEmpty() && hash != hashOf(*bytes) && textOf(*bytes) != text;
    emit changed();
}

void NetworkFiles::setAside() {
    if (isEdited() && !model_->isReadOnly()) aside_ << draft();
}

QString NetworkFiles::asideName() const { return aside_.isEmpty() ? QString() : aside_.back()[u"name"].toString(); }

void NetworkFiles::takeDraft() {
    if (aside_.isEmpty()) return;
    const QJsonObject kept = aside_.takeLast();
    leaveRun();
    show(kept);
}

void NetworkFiles::dropDraft() {
    if (!aside_.isEmpty()) aside_.removeLast();
    keepDraft();
    emit changed();
}

}  // namespace ui
