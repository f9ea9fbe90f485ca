#pragma once

#include <QFrame>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "tryit/tried_model.h"

namespace ui {

class Theme;

/// A card for one run: its colour, name and step, then a body. If the run's model cannot be used,
/// the reason replaces the body.
class RunColumn final : public QFrame {
    Q_OBJECT
public:
    RunColumn(Theme* theme, TriedModel* model, QWidget* parent = nullptr);

    TriedModel* model() const { return model_; }
    /// Owns it from now on.
    void setBody(QWidget* body);
    QWidget* body() const { return body_; }
    /// An error of a request, over the body; empty: none.
    void showProblem(const QString& problem);
    /// Asks the run's model off the GUI thread for work(model) and then calls show(result) here,
    /// unless `context` is gone by then; failed() after an error, which is shown.
    template <typename Work, typename Show>
    void ask(QObject* context, Work work, Show show, std::function<void()> failed = {}) {
        model_->worker()->ask(
            ModelWorker::Job::answer, context,
            [this, work, show](engine::TrainedModel& model, const ModelWorker::Ticket& ticket) {
                ticket.post([this, show, result = work(model)] {
                    showProblem({});
                    show(result);
                });
            },
            [this, failed](const engine::Error& error) {
                if (failed) failed();
                showProblem(errorText(error));
            });
    }

private:
    void refresh();

    Theme* theme_;
    TriedModel* model_;
    QLabel* dot_;
    QLabel* step_;
    QLabel* problem_;
    QVBoxLayout* column_;
    QWidget* body_ = nullptr;
};

/// The columns of several runs side by side; scrolls where they do not fit.
class RunColumns final : public QScrollArea {
    Q_OBJECT
public:
    RunColumns(Theme* theme, const TriedModels& models, int narrowest, QWidget* parent = nullptr);
    const std::vector<RunColumn*>& columns() const { return columns_; }

private:
    std::vector<RunColumn*> columns_;
};

}  // namespace ui
