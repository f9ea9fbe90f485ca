#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "engine/network/onnx_import.h"
#include "feed/background_task.h"
#include "view/context.h"

namespace ui {

class NetworkFiles;
class NetworkModel;

/// An ONNX model on its way to a text: it is read off the GUI thread, its text is shown to read, and
/// its weights go into a file from which runs begin. GUI thread.
class NetworkImport final : public QObject {
    Q_OBJECT
public:
    /// Belongs to the model.
    NetworkImport(const Context& context, NetworkModel* model, NetworkFiles* files);

    static bool isOnnx(const QString& file);
    /// Reads a model. `data`: its file of tensors, which the user chose; empty: the one beside it.
    void open(const QString& file, const QString& data = {});
    void cancel() { task_.stop(); }
    bool isReading() const { return task_.running(); }
    /// Nothing is being read, and there is nothing to say.
    bool isIdle() const { return file_.isEmpty(); }
    /// The name of the model's file.
    QString name() const;
    QString file() const { return file_; }

    /// Null: the model was not read.
    const engine::OnnxImport* found() const { return found_.get(); }
    /// Operators that are not read.
    const std::vector<engine::UnreadOperator>& refused() const { return refused_; }
    /// Why the model is not read; nothing: it was.
    const std::optional<engine::Error>& problem() const { return problem_; }
    /// The user has to choose the file of the tensors.
    bool needsData() const { return needsData_; }

    /// The text becomes the user's own, and the next run begins from the model's weights.
    void take();
    /// Does so, and writes the text into a file and the weights beside it.
    void save(const QString& textFile);
    /// Forgets the model; its text stays.
    void close();

signals:
    void changed();

private:
    struct End {
        std::shared_ptr<engine::OnnxImport> found{};
        std::vector<engine::UnreadOperator> refused{};
        std::optional<engine::Error> problem{};
        bool needsData = false;
    };
    static End read(const QString& file, const QString& data);
    void show();
    void useWeights(const QString& file);
    void writeWeights(const QString& file);

    Context context_;
    NetworkModel* model_;
    NetworkFiles* files_;
    QString file_;
    std::shared_ptr<engine::OnnxImport> found_;
    std::vector<engine::UnreadOperator> refused_;
    std::optional<engine::Error> problem_;
    bool needsData_ = false;
    BackgroundTask<std::monostate, End> task_;
};

}  // namespace ui
