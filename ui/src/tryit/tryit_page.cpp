#include "tryit/tryit_page.h"

#include <QEvent>

#include "engine/runs/checkpoint.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "theme/theme.h"
#include "tryit/evaluate_panel.h"
#include "tryit/mask_ask.h"
#include "tryit/picture_ask.h"
#include "tryit/random_ask.h"
#include "tryit/row_ask.h"
#include "tryit/scene_ask.h"
#include "tryit/text_ask.h"
#include "widgets/choices.h"
#include "widgets/panel.h"
#include "widgets/widget_state.h"

namespace ui {
namespace {

constexpr std::size_t maxRuns = 4;  // side by side
constexpr char liveWeights[] = "now";  ///< in place of a checkpoint

/// The checkpoint of runs that have no live weights.
std::string checkpointOf(const std::string& choice) {
    return choice == liveWeights ? "last" : choice;
}

/// Whether one input fits both.
bool alike(const engine::InputForm& a, const engine::InputForm& b) {
    const auto names = [](const engine::InputForm& form) {
        std::vector<std::string> out;
        for (const auto& column : form.columns) out.push_back(column.name);
        return out;
    };
    return a.kind == b.kind && a.channels == b.channels && a.words == b.words &&
           a.tokens == b.tokens && names(a) == names(b);
}

bool trainsWithoutCheckpoint(const std::shared_ptr<RunTrack>& track) {
    return !ended(track->state()) && track->started() &&
           engine::list_checkpoints(track->started()->folder).empty();
}

}  // namespace

QWidget* makeTryItPage(const Context& context, QWidget* parent) {
    return new TryItPage(context, parent);
}

TryItPage::TryItPage(const Context& context, QWidget* parent) : QWidget(parent), context_(context) {
    pool_.setMaxThreadCount(static_cast<int>(maxRuns));
    evaluations_.setMaxThreadCount(1);
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeHead());
    body_ = new QStackedWidget(this);
    words_ = makeProse({}, "dim", body_);
    words_->setAlignment(Qt::AlignCenter);
    words_->setTextFormat(Qt::PlainText);
    body_->addWidget(words_);
    column->addWidget(body_, 1);
    connect(tabs_, &QTabBar::currentChanged, this, [this](int tab) {
        if (body_->count() > 1) body_->setCurrentIndex(tab + 1);
    });
    connect(checkpoint_, &QComboBox::currentIndexChanged, this, &TryItPage::refresh);
    connect(context_.feed, &EventFeed::tracksChanged, this, &TryItPage::refresh);
    connect(context_.feed, &EventFeed::stateChanged, this, &TryItPage::refresh);
    connect(context_.feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
                // The last checkpoint may be found only once its run has ended.
                if (std::holds_alternative<engine::CheckpointSaved>(event) ||
                    std::holds_alternative<engine::RunDone>(event))
                    renew(track->run());
            });
}

TryItPage::~TryItPage() { clear(); }  // the pools wait for what is in flight

QLayout* TryItPage::makeHead() {
    auto* row = makeRow(size::gap);
    tabs_ = new QTabBar(this);
    tabs_->setExpanding(false);
    tabs_->setAccessibleName(tr("What to do with the models"));
    tabs_->addTab(tr("Ask"));
    tabs_->addTab(tr("Evaluate"));
    more_ = makeSmall({}, "dim", this);
    checkpoint_ = new ChoiceBox(this);
    checkpoint_->setAccessibleName(tr("Checkpoint"));
    checkpoint_->addItem(tr("Last checkpoint"), u"last"_s);
    checkpoint_->addItem(tr("Best checkpoint"), u"best"_s);
    row->addWidget(tabs_);
    row->addStretch(1);
    addWidgets(row, {more_, checkpoint_});
    return row;
}

void TryItPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
    for (const auto& run : std::exchange(stale_, {})) renew(run);
}

/// Answers and generated texts stay; the models are opened again for the next question.
void TryItPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    for (auto* worker : findChildren<ModelWorker*>()) worker->release();  // Evaluate's, too
}

void TryItPage::showWords(const QString& words) {
    words_->setText(words);
    body_->setCurrentIndex(0);
}

void TryItPage::clear() {
    while (body_->count() > 1) delete body_->widget(1);
    for (auto* model : models_) delete model;
    models_.clear();
    settled_ = false;
}

void TryItPage::refresh() {
    if (!isVisible()) return;  // showEvent() comes here
    const auto tracks = context_.feed->tracks();
    offerLive(std::ranges::any_of(tracks, [this](const auto& track) { return isPaused(*track); }));
    const std::string checkpoint = checkpoint_->currentData().toString().toStdString();
    QStringList wanted{checkpoint_->currentData().toString()};
    for (const auto& track : tracks)
        wanted << QString::fromStdString(track->run()) + trackTitle(*track) +
                      (checkpoint == liveWeights && isPaused(*track) ? u"now"_s : QString());
    if (wanted == shown_) return;
    shown_ = wanted;
    clear();
    const std::size_t shown = std::min(tracks.size(), maxRuns);
    more_->setText(tracks.size() > shown
                       ? tr("The first %1 of %2 runs on screen").arg(shown).arg(tracks.size())
                       : QString());
    if (tracks.empty() || !context_.feed->store())
        return showWords(tr("Train a run, or select one under Runs."));
    showWords(tr("Opening the models…"));
    for (std::size_t i = 0; i < shown; ++i) {
        const bool live = checkpoint == liveWeights && isPaused(*tracks[i]);
        auto* model =
            new TriedModel(context_.feed->store(), *tracks[i], checkpointOf(checkpoint), &pool_,
                           this, live ? captureOf(tracks[i]) : TriedModel::Capture());
        models_.push_back(model);
        connect(model, &TriedModel::changed, this, &TryItPage::settle);
    }
    settle();
}

/// The next step of a run of this window, which waits for it.
bool TryItPage::isPaused(const RunTrack& track) const {
    return track.state() == engine::RunState::paused &&
           context_.feed->experiment().hasNextStep(&track);
}

TriedModel::Capture TryItPage::captureOf(const std::shared_ptr<RunTrack>& track) {
    return [this, track](std::function<void(engine::NextStepCapture)> done) {
        context_.feed->experiment().captureNextStep(track.get(), this, std::move(done));
    };
}

void TryItPage::offerLive(bool offered) {
    const int at = checkpoint_->findData(QString::fromLatin1(liveWeights));
    if (offered == (at >= 0)) return;
    const QSignalBlocker quiet(checkpoint_);
    if (offered)
        checkpoint_->addItem(tr("Weights now, while paused"), QString::fromLatin1(liveWeights));
    else
        checkpoint_->removeItem(at);
}

void TryItPage::renew(const std::string& run) {
    if (!isVisible()) {
        stale_.push_back(run);
        return;
    }
    for (auto* model : models_) {
        if (model->run() == run) model->reopen();
    }
}

void TryItPage::settle() {
    const bool all = std::ranges::all_of(models_, [](auto* model) { return model->settled(); });
    if (settled_ || !all || models_.empty()) return;
    const auto first =
        std::ranges::find_if(models_, [](auto* model) { return model->facts().has_value(); });
    if (first == models_.end()) {
        if (std::ranges::all_of(context_.feed->tracks(), trainsWithoutCheckpoint)) {
            // Choosing comes back here with the weights of a paused run; it must not delete what
            // called this.
            const int live = checkpoint_->findData(QString::fromLatin1(liveWeights));
            if (live >= 0 && live != checkpoint_->currentIndex())
                QMetaObject::invokeMethod(
                    checkpoint_,
                    [this] {
                        const int now = checkpoint_->findData(QString::fromLatin1(liveWeights));
                        if (now >= 0) checkpoint_->setCurrentIndex(now);
                    },
                    Qt::QueuedConnection);
            return showWords(
                tr("No checkpoint yet. Run > Save a checkpoint now saves one at once."));
        }
        QStringList problems;
        for (auto* model : models_) problems << model->title() + u": "_s + model->problem();
        return showWords(problems.join(u'\n'));
    }
    settled_ = true;
    const engine::InputForm form = (*first)->facts()->form;
    TriedModels same;
    for (auto* model : models_) {
        if (!model->facts() || alike(model->facts()->form, form)) same.push_back(model);
    }
    addWidgets(body_,
               {makeAsk(form, same), new EvaluatePanel(context_, models_, &evaluations_, body_)});
    body_->setCurrentIndex(tabs_->currentIndex() + 1);
    if (same.size() < models_.size() && more_->text().isEmpty())
        more_->setText(tr("Runs with other inputs are listed under Evaluate only."));
    KeptState::restoreIn(context_.kept, this);
}

QWidget* TryItPage::makeAsk(const engine::InputForm& form, const TriedModels& alike) {
    using Kind = engine::InputForm::Kind;
    Theme* theme = context_.theme;
    switch (form.kind) {
        case Kind::picture:
            return new PictureAsk(theme, form, alike, body_);
        case Kind::row:
            return new RowAsk(theme, form, alike, body_);
        case Kind::text:
            return new TextAsk(theme, form, alike, body_);
        case Kind::masked_text:
            return new MaskAsk(theme, form, alike, body_);
        case Kind::random:
            return new RandomAsk(theme, alike, body_);
        case Kind::scene:
            return new SceneAsk(theme, form, alike, body_);
        case Kind::none:
            break;
    }
    auto* note =
        makeProse(tr("This model takes no manual input. It can be evaluated."), "dim", body_);
    note->setAlignment(Qt::AlignCenter);
    return note;
}

}  // namespace ui
