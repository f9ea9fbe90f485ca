#include "twin/twin_model.h"

#include <algorithm>

#include "commands/run_history.h"
#include "engine/base/error.h"
#include "feed/background_task.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"

namespace ui {

using engine::TwinRecordReader;

namespace {

std::filesystem::path folderOf(const RunTrack& track) {
    return track.started() ? track.started()->folder : std::string();
}

}  // namespace

TwinModel::TwinModel(const Context& context, QObject* parent) : QObject(parent), context_(context) {
    connect(context_.feed, &EventFeed::tracksChanged, this, &TwinModel::refresh);
    connect(context_.feed, &EventFeed::figuresDue, this, &TwinModel::refresh);
    connect(context_.link, &PlotLink::selectedChanged, this, &TwinModel::selectionChanged);
    connect(context_.link, &PlotLink::layerChanged, this, &TwinModel::selectionChanged);
    connect(context_.history, &RunHistory::changed, this, &TwinModel::findSiblings);
    refresh();
}

TwinModel::~TwinModel() = default;

void TwinModel::refresh() {
    find();
    if (reader_ && grow()) emit grew();
}

/// The run on screen whose folder holds a comparison, and the run that it is compared with.
void TwinModel::find() {
    std::shared_ptr<RunTrack> found;
    for (const auto& track : context_.feed->tracks()) {
        const auto folder = folderOf(*track);
        if (!folder.empty() && TwinRecordReader::exists(folder)) found = track;
    }
    const std::filesystem::path folder = found ? folderOf(*found) : std::filesystem::path();
    if (found == other_ && folder == folder_) {
        // The reference may come on screen after the other run.
        if (reference_ || !findReference()) return;
        emit contentChanged();
        return findSiblings();
    }
    other_ = found;
    folder_ = folder;
    reference_.reset();
    reader_.reset();
    digest_.reset();
    problem_ = {};
    errors_.clear();
    angles_.clear();
    skipped_.clear();
    resyncs_.clear();
    pairs_.clear();
    siblings_.clear();
    if (found) {
        try {
            reader_ = TwinRecordReader::open(folder);
            layers_ = reader_->layers().size();
            digest_.emplace(reader_->layers());
            findReference();
        } catch (const engine::Error& error) {
            problem_ = Failure(error);
        }
    }
    emit contentChanged();
    findSiblings();
}

bool TwinModel::findReference() {
    if (!reader_) return false;
    for (const auto& track : context_.feed->tracks()) {
        if (track->run() == reader_->reference()) reference_ = track;
    }
    return reference_ != nullptr;
}

/// A pair whose record cannot be read is left out.
void TwinModel::findSiblings() {
    std::vector<SeedPair> pairs;
    if (reference_ && other_)
        pairs = siblingPairs(*context_.history->runs(), reference_->config(), other_->config());
    if (pairs == pairs_) return;
    pairs_ = pairs;
    const auto read = [pairs] {
        std::vector<std::vector<double>> out;
        for (const SeedPair& pair : pairs) {
            try {
                out.push_back(lossGaps(pair));
            } catch (const engine::Error&) {
                continue;
            }
        }
        return out;
    };
    inBackground(this, read, [this, pairs](std::vector<std::vector<double>> gaps) {
        if (pairs != pairs_) return;  // the twin of another run is on screen by now
        siblings_ = std::move(gaps);
        emit siblingsChanged();
    });
}

bool TwinModel::grow() {
    const auto known = static_cast<std::int64_t>(errors_.size());
    const std::int64_t size = reader_->steps() * static_cast<std::int64_t>(layers_);
    if (size <= known) return false;
    std::vector<engine::TwinRow> rows(static_cast<std::size_t>(size - known));
    try {
        reader_->rows(known, rows);
    } catch (const engine::Error& error) {
        problem_ = Failure(error);
        return false;
    }
    for (const auto& row : rows) {
        digest_->add(row);
        errors_.push_back(row.error);
        angles_.push_back(row.angle);
        if (row.layer != 0) continue;
        skipped_.push_back(row.skipped ? 1 : 0);
        if (row.resynced) resyncs_.push_back(row.step);
    }
    return true;
}

QString TwinModel::emptiness() const {
    if (!problem_.isEmpty()) return problem_.text();
    if (any()) return {};
    if (other_) return tr("The first comparison comes with the first step.");
    return tr(
        "No twin is on screen. Start one: it trains two precisions in lockstep and compares "
        "their gradients in each step.");
}

QString TwinModel::lossMissing() const {
    if (!any()) return tr("The loss of the second run minus that of the reference, step by step.");
    if (reference_) return {};
    return tr("Overlay run %1, the reference, to see how far apart the losses are.")
        .arg(QString::fromStdString(reader_->reference()));
}

bool TwinModel::live() const {
    return context_.feed->experiment().twin() != nullptr && other_ != nullptr &&
           std::ranges::find(context_.feed->liveTracks(), other_) !=
               context_.feed->liveTracks().end();
}

std::int64_t TwinModel::steps() const { return std::ssize(skipped_); }

float TwinModel::error(std::size_t layer, std::int64_t i) const {
    return errors_[static_cast<std::size_t>(i) * layers_ + layer];
}

float TwinModel::angle(std::size_t layer, std::int64_t i) const {
    return angles_[static_cast<std::size_t>(i) * layers_ + layer];
}

std::span<const float> TwinModel::stepValues(std::int64_t i, bool angle) const {
    const auto& all = angle ? angles_ : errors_;
    return std::span(all).subspan(static_cast<std::size_t>(i) * layers_, layers_);
}

std::int64_t TwinModel::current() const {
    const std::int64_t selected = context_.link->selected();
    return std::clamp<std::int64_t>(selected > 0 ? selected - 1 : steps() - 1, 0,
                                    std::max<std::int64_t>(steps() - 1, 0));
}

std::size_t TwinModel::selected() const {
    const std::string chosen = context_.link->layer().toStdString();
    const auto& all = digest_->layers();
    std::size_t furthest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!chosen.empty() && all[i].name == chosen) return i;
        if (all[i].error > all[furthest].error) furthest = i;
    }
    return furthest;
}

void TwinModel::select(std::size_t layer) {
    context_.link->selectLayer(QString::fromStdString(digest_->layers()[layer].name));
}

QString TwinModel::name(std::size_t layer) const {
    const std::string& name = digest_->layers()[layer].name;
    return name.empty() ? tr("(the model)") : QString::fromStdString(name);
}

}  // namespace ui
