#include "tryit/tried_model.h"

#include <QPointer>

#include "text/event_text.h"
#include "text/language.h"

namespace ui {

QString className(const std::vector<std::string>& classes, std::size_t index) {
    if (index < classes.size() && !classes[index].empty())
        return QString::fromStdString(classes[index]);
    return QString::number(index);
}

QString noPrediction() {
    return TriedModel::tr("No prediction");
}

QString predictedName(const std::vector<std::string>& classes, const engine::HardSample& sample) {
    return sample.predicted < 0 ? noPrediction()
                                : className(classes, static_cast<std::size_t>(sample.predicted));
}

ModelFacts factsOf(const engine::TrainedModel& model) {
    return {model.form(),   model.classes(), model.metrics(),
            model.target(), model.task(),    model.step()};
}

QString errorText(const engine::Error& error) {
    QStringList sentences{sentence(engineText(error.message()))};
    if (!error.hint().empty()) sentences << sentence(engineText(error.hint()));
    return joined(sentences);
}

QString noteText(const engine::Message& note) {
    return note.empty() ? QString() : sentence(engineText(note));
}

TriedModel::TriedModel(std::shared_ptr<engine::RunStore> store, const RunTrack& track,
                       std::string checkpoint, QThreadPool* pool, QObject* parent, Capture capture)
    : QObject(parent),
      store_(std::move(store)),
      run_(track.run()),
      title_(trackTitle(track)),
      precision_(track.precision()),
      checkpoint_(std::move(checkpoint)),
      capture_(std::move(capture)),
      worker_(makeWorker(pool, this)) {
    reopen();
}

ModelWorker::Open TriedModel::opener() const {
    return [store = store_, run = run_, checkpoint = checkpoint_, live = live_] {
        const auto summary = store->find(run);
        if (!summary) {
            throw engine::Error(engine::ErrorCode::data,
                                engine::msg("run {} is not among the stored runs", run));
        }
        const auto step = live->get();
        return step ? std::make_unique<engine::TrainedModel>(summary->folder, step->capsule())
                    : std::make_unique<engine::TrainedModel>(summary->folder, checkpoint);
    };
}

ModelWorker* TriedModel::makeWorker(QThreadPool* pool, QObject* parent) const {
    return new ModelWorker(pool, opener(), parent);
}

void TriedModel::reopen() {
    if (run_.empty()) {
        problem_ = tr("This run has not begun yet.");
        return;
    }
    if (!capture_) return open();
    capture_([model = QPointer(this)](const engine::NextStepCapture& capture) {
        if (!model) return;
        if (!capture.step)
            return model->fail(engine::Error(engine::ErrorCode::state, capture.problem));
        model->live_->set(capture.step);
        model->open();
    });
}

void TriedModel::fail(const engine::Error& error) {
    facts_.reset();
    problem_ = errorText(error);
    emit changed();
}

void TriedModel::open() {
    worker_->reopen();
    worker_->ask(
        ModelWorker::Job::open, this,
        [this](engine::TrainedModel& model, const ModelWorker::Ticket& ticket) {
            ticket.post([this, facts = factsOf(model)] {
                facts_ = facts;
                problem_.clear();
                emit changed();
            });
        },
        [this](const engine::Error& error) { fail(error); });
}

}  // namespace ui
