#include "network/network_import.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <utility>

#include "commands/commands.h"
#include "commands/file_works.h"
#include "engine/io/onnx_data_needed.h"
#include "engine/io/work_scope.h"
#include "models/settings_model.h"
#include "network/network_files.h"
#include "network/network_model.h"

namespace ui {
namespace {

/// A place for weights that were not saved: one for each model and text.
QString keptWeights(const QString& file, const engine::OnnxImport& found) {
    QCryptographicHash hash(QCryptographicHash::Sha256);
    hash.addData(QFileInfo(file).absoluteFilePath().toUtf8());
    hash.addData(QByteArray::fromStdString(found.text));
    hash.addData(QFileInfo(file).lastModified().toString(Qt::ISODateWithMs).toUtf8());
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + u"/halftone/imported"_s;
    return u"%1/%2-%3.safetensors"_s.arg(folder, QFileInfo(file).completeBaseName(), QString::fromLatin1(hash.result().toHex().left(8)));
}

}  // namespace

NetworkImport::NetworkImport(const Context& context, NetworkModel* model, NetworkFiles* files)
    : QObject(model), context_(context), model_(model), files_(files) {}

bool NetworkImport::isOnnx(const QString& file) { return QFileInfo(file).suffix().compare(u"onnx"_s, Qt::CaseInsensitive) == 0; }

QString NetworkImport::name() const { return QFileInfo(file_).fileName(); }

NetworkImport::End NetworkImport::read(const QString& file, const QString& data) {
    End out;
    try {
        out.found = std::make_shared<engine::OnnxImport>(engine::import_onnx(file.toStdString(), data.toStdString()));
    } catch (const engine::OnnxRefused& refused) {
        out.refused = refused.all();
        out.problem = refused;
    } catch (const engine::OnnxDataNeeded& needed) {
        out.needsData = true;
        out.problem = needed;
    } catch (const engine::Error& error) {
        out.problem = error;
    }
    return out;
}

void NetworkImport::open(const QString& file, const QString& data) {
    close();
    file_ = file;
    task_.start(
        [file, data](auto& link) {
            const engine::WorkScope scope(link.watcher());
            return read(file, data);
        },
        [this](Outcome<End> end) {
            if (end.stopped()) return close();
            if (end.error) end.result = End{.problem = end.error};
            found_ = std::move(end.result->found);
            refused_ = std::move(end.result->refused);
            problem_ = std::move(end.result->problem);
            needsData_ = end.result->needsData;
            if (found_) show();
            emit changed();
        },
        onOwnThread());
    emit changed();
}

/// To read, with the sizes of the model: it is trained when the user asks for it.
void NetworkImport::show() {
    files_->showImported(QString::fromStdString(found_->text), QFileInfo(file_).completeBaseName() + u".network"_s);
    model_->setSizes(found_->data);
}

void NetworkImport::take() {
    if (!found_) return;
    const QString weights = keptWeights(file_, *found_);
    QDir().mkpath(QFileInfo(weights).path());
    writeWeights(weights);
    files_->edit();
    close();
}

void NetworkImport::save(const QString& textFile) {
    if (!found_) return;
    const QFileInfo text(textFile);
    files_->edit();
    files_->save(textFile);
    writeWeights(text.dir().filePath(text.completeBaseName() + u".safetensors"_s));
    close();
}

/// The setting names the file when it is there.
void NetworkImport::writeWeights(const QString& file) {
    context_.commands->works()->start({tr("Writing %1").arg(QFileInfo(file).fileName()), file,
                                       [found = found_, file] {
                                           engine::write_onnx_weights(*found, file.toStdString());
                                           return tr("Weights written: %1. The next run begins from them.").arg(file);
                                       },
                                       [this, file] { useWeights(file); }, this});
}

/// A last layer of another number of outputs is drawn anew.
void NetworkImport::useWeights(const QString& file) {
    context_.settings->set(u"model.init_from"_s, file);
    context_.settings->set(u"model.new_head"_s, u"true"_s);
}

void NetworkImport::close() {
    task_.drop();
    file_.clear();
    found_.reset();
    refused_.clear();
    problem_.reset();
    needsData_ = false;
    emit changed();
}

}  // namespace ui
