#include "network/network_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>

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
    takeDraft();
}

bool NetworkFiles::isEdited() const { return model_->document()->isModified(); }

void NetworkFiles::begin(const QString& text, const QString& name, const QString& file, bool readOnly) {
    name_ = name;
    follow(file);
    if (readOnly) model_->setReadOnly(true);
    model_->setText(text);
    model_->setReadOnly(readOnly);
    draft_.stop();
    QFile::remove(draftFile());
    emit changed();
}

bool NetworkFiles::isTemplate(const QString& name) {
    const auto names = engine::network_templates();
    return std::ranges::find(names, name.toStdString()) != names.end();
}

void NetworkFiles::showText(const QString& text, const QString& name, const QString& file) {
    if (const auto bytes = readText(file)) onDisk_ = *bytes;
    begin(text, name, file, false);
}

void NetworkFiles::showTemplate(const QString& name) {
    begin(QString::fromStdString(engine::network_template(name.toStdString())), name + u".network"_s, {}, true);
}

void NetworkFiles::edit() {
    model_->setReadOnly(false);
    emit changed();
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
    const auto done = [this, target, bytes, then] {
        onDisk_ = bytes;
        name_ = QFileInfo(target).fileName();
        follow(target);
        if (model_->text().toUtf8() == bytes) {
            model_->document()->setModified(false);
            draft_.stop();
            QFile::remove(draftFile());
        }
        model_->setReadOnly(false);
        emit changed();
        if (then) then();
    };
    context_.commands->works()->write(target, writerOf(target, bytes), done, this);
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
    if (!bytes || *bytes == onDisk_) return;
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

/// Without a message if it cannot be written: the text is still here.
void NetworkFiles::keepDraft() {
    if (!isEdited() || model_->isReadOnly()) {
        QFile::remove(draftFile());
        return;
    }
    const QJsonObject kept{{u"text"_s, model_->text()}, {u"name"_s, name_}, {u"file"_s, file_}};
    QDir().mkpath(QFileInfo(draftFile()).path());
    QSaveFile out(draftFile());
    if (out.open(QIODevice::WriteOnly) && out.write(QJsonDocument(kept).toJson()) >= 0) out.commit();
}

bool NetworkFiles::takeDraft() {
    QFile in(draftFile());
    if (!in.open(QIODevice::ReadOnly)) return false;
    const QJsonObject kept = QJsonDocument::fromJson(in.read(4 * longest)).object();
    const QString text = kept[u"text"].toString();
    if (text.isEmpty()) return false;
    name_ = kept[u"name"].toString();
    const QString file = kept[u"file"].toString();
    if (const auto bytes = readText(file)) onDisk_ = *bytes;
    follow(file);
    model_->setText(text);
    model_->document()->setModified(true);
    return true;
}

}  // namespace ui
