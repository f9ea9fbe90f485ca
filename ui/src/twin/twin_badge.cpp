#include "twin/twin_badge.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "engine/session/session.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "text/format.h"
#include "text/language.h"
#include "text/precision_title.h"
#include "widgets/panel.h"

namespace ui {

using engine::RunState;
using engine::Session;
using engine::StepRecord;
using engine::Twin;
using engine::TwinRecordReader;

namespace {

constexpr double lookEvery = 0.05;  // s

struct BitCheckWords {
    Q_DECLARE_TR_FUNCTIONS(BitCheckWords)
};

/// Steps to compare.
std::int64_t stepsOf(const engine::RunConfig& config, std::int64_t limit) {
    return config.max_steps > 0 ? std::min(config.max_steps, limit) : limit;
}

/// The checked steps and one more, because the half that computes first leaves after its last one,
/// which is then not compared. No sampling, examination or early end.
engine::RunConfig shortened(engine::RunConfig config, std::int64_t steps) {
    config.max_steps = steps + 1;
    config.epochs = std::max(config.epochs, config.max_steps);  // few batches are read again
    config.instruments = {};
    config.early_stopping = {};
    return config;
}

bool ended(const Session& session) {
    return session.state() == RunState::done || session.state() == RunState::failed;
}

bool sameBits(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Two sessions in lockstep. Their runs go with the object.
class Pair {
public:
    Pair(const engine::RunConfig& reference, const engine::RunConfig& other)
        : store_(std::make_shared<engine::RunStore>(folder_.path().toStdString())) {
        const auto thread = std::make_shared<engine::ComputeThread>();
        engine::SessionOptions options;
        options.evaluate = false;
        options.save_checkpoints = false;
        options.twin = std::make_shared<Twin>();
        for (const auto* config : {&reference, &other}) {
            sessions_.push_back(std::make_unique<Session>(*config, thread, store_, options));
            options.twin_side = Twin::Side::other;
        }
    }

    void run(std::int64_t steps, double seconds, BitCheckTask::Link& link) {
        QElapsedTimer time;
        time.start();
        for (const auto& session : sessions_) session->post(engine::Command::start);
        while (!ended(reference()) || !ended(other())) {
            (ended(reference()) ? other() : reference()).wait(lookEvery);
            link.report([step = std::min(reference().record().size(), steps)](std::int64_t& at) {
                at = step;
            });
            if (link.stopped() || static_cast<double>(time.elapsed()) > 1e3 * seconds) {
                for (const auto& session : sessions_) session->post(engine::Command::stop);
            }
        }
    }

    BitCheck compare(std::int64_t most) const;

private:
    Session& reference() const { return *sessions_.front(); }
    Session& other() const { return *sessions_.back(); }
    QString failure() const;
    std::vector<engine::TwinRow> gradients(std::vector<std::string>& layers) const;
    static bool sameFigures(const StepRecord& a, const StepRecord& b) {
        return sameBits(a.loss, b.loss) && sameBits(a.loss_scale, b.loss_scale) &&
               sameBits(a.grad_norm, b.grad_norm) && a.found_inf == b.found_inf;
    }

    QTemporaryDir folder_;
    std::shared_ptr<engine::RunStore> store_;
    std::vector<std::unique_ptr<Session>> sessions_;
};

/// Why a session failed; empty if none did.
QString Pair::failure() const {
    for (const auto& session : sessions_) {
        for (const engine::Event& event : session->drain()) {
            const auto* failed = std::get_if<engine::RunFailed>(&event);
            if (failed != nullptr)
                return joined({engineText(failed->message), engineText(failed->hint)});
        }
    }
    return {};
}

std::vector<engine::TwinRow> Pair::gradients(std::vector<std::string>& layers) const {
    const auto run = store_->find(other().run());
    if (!run || !TwinRecordReader::exists(run->folder)) return {};
    const auto reader = TwinRecordReader::open(run->folder);
    layers = reader.layers();
    std::vector<engine::TwinRow> rows(static_cast<std::size_t>(reader.size()));
    reader.rows(0, rows);
    return rows;
}

BitCheck Pair::compare(std::int64_t most) const {
    BitCheck out;
    out.problem = failure();
    std::vector<std::string> layers;
    const auto rows = gradients(layers);
    const auto a = reference().record(), b = other().record();
    const std::size_t width = layers.size();
    const std::int64_t steps = std::min({a.size(), b.size(), most});
    for (std::int64_t step = 1; step <= steps; ++step) {
        const auto at = static_cast<std::size_t>(step - 1) * width;
        if (width == 0 || rows.size() < at + width) break;
        out.steps = step;
        const StepRecord own = a.row(step - 1), theirs = b.row(step - 1);
        // The loss comes first, then gradients from the last layer to the first.
        if (!sameBits(own.loss, theirs.loss)) {
            out.tensor = BitCheckWords::tr("the loss");
        } else {
            // NaN: the gradients are not finite on one side at least.
            for (std::size_t i = width; i-- > 0 && out.tensor.isEmpty();) {
                if (rows[at + i].error > 0)
                    out.tensor = BitCheckWords::tr("the gradient of %1")
                                     .arg(layers[i].empty() ? BitCheckWords::tr("the model")
                                                            : QString::fromStdString(layers[i]));
            }
            if (out.tensor.isEmpty() && !sameFigures(own, theirs))
                out.tensor = BitCheckWords::tr("the gradient norm or the loss scale");
        }
        if (out.tensor.isEmpty()) continue;
        out.step = step;
        return out;
    }
    if (out.steps == 0 && out.problem.isEmpty())
        out.problem = BitCheckWords::tr("No step was computed.");
    return out;
}

}  // namespace

BitCheck checkBits(const engine::RunConfig& reference, const engine::RunConfig& other,
                   const BitCheckLimits& limits, BitCheckTask::Link& link) {
    const std::int64_t steps =
        std::min(stepsOf(reference, limits.steps), stepsOf(other, limits.steps));
    Pair pair(shortened(reference, steps), shortened(other, steps));
    pair.run(steps, limits.seconds, link);
    return pair.compare(steps);
}

namespace {

constexpr int progressEvery = 150;  // ms
constexpr int maxWidth = 320;      // of the text

}  // namespace

TwinBadge::TwinBadge(const Context& context, TwinModel* model, QWidget* parent, Checker checker)
    : QToolButton(parent),
      context_(context),
      model_(model),
      checker_(std::move(checker)),
      check_([this] { refresh(); }, progressEvery) {
    setObjectName(u"chip"_s);
    connect(this, &QToolButton::clicked, this, &TwinBadge::toggle);
    connect(model_, &TwinModel::contentChanged, this, &TwinBadge::refresh);
    connect(model_, &TwinModel::grew, this, &TwinBadge::refresh);
    connect(context_.settings, &SettingsModel::changed, this, &TwinBadge::refresh);
    refresh();
}

std::optional<engine::RunConfig> TwinBadge::config() const {
    if (model_->reference()) return model_->reference()->config();
    const auto compared = context_.settings->comparisonConfigs();
    if (compared.empty() || !context_.settings->errors().empty()) return std::nullopt;
    return compared.front();
}

std::optional<BitCheck> TwinBadge::shown() const {
    if (!model_->any() || !model_->reference() || !model_->other()) return std::nullopt;
    if (!(model_->reference()->config() == model_->other()->config())) return std::nullopt;
    const engine::TwinDigest& digest = model_->digest();
    BitCheck out;
    out.steps = model_->steps();
    if (digest.identical()) return out;
    // Gradients that are not finite cannot be compared.
    if (digest.first_difference().skipped) return std::nullopt;
    out.step = digest.first_difference().step;
    out.tensor = tr("the gradient of %1")
                     .arg(model_->name(static_cast<std::size_t>(digest.first_difference().layer)));
    return out;
}

void TwinBadge::toggle() {
    if (checking())
        check_.stop();
    else
        start();
}

void TwinBadge::start() {
    const auto own = config();
    if (!own) return;
    checked_ = own;
    check_.start(
        [check = checker_, config = *own, limits = limits_](BitCheckTask::Link& link) {
            return check(config, config, limits, link);
        },
        [this](const Outcome<BitCheck>& outcome) { take(outcome); }, context_.feed->betweenSteps());
    refresh();
}

void TwinBadge::take(const Outcome<BitCheck>& outcome) {
    found_ = outcome.result.value_or(BitCheck{.problem = outcome.failure().text()});
    // Steps compared before the user stopped it count too.
    if (check_.stopped() && found_.steps == 0) checked_.reset();
    refresh();
}

void TwinBadge::setStatus(const QString& tone, const QString& text, const QString& tip) {
    // The tool bar may be full.
    setText(fontMetrics().elidedText(text, Qt::ElideRight, maxWidth));
    setToolTip(QStringList{text, tip}.join(u'\n'));
    setAccessibleName(text);
    setAccessibleDescription(tip);
    restyle(this, "tone", tone);
}

void TwinBadge::showResult(const BitCheck& found) {
    const QString title = precisionTitle(config()->precision);
    const QString again = tr("Click to train %1 beside %1 for up to %2 steps and compare all bits. "
                             "Training waits for it; nothing is saved.")
                              .arg(title, count(limits_.steps));
    if (!found.problem.isEmpty()) {
        setStatus(u"caution"_s, tr("%1 beside %1: not checked").arg(title),
             found.problem + u'\n' + again);
    } else if (found.identical()) {
        setStatus(u"good"_s,
             tr("✓ %1 beside %1: bit-identical, %2 steps").arg(title, count(found.steps)), again);
    } else {
        setStatus(
            u"bad"_s,
            tr("✗ %1 beside %1: %2 differs in step %3").arg(title, found.tensor, count(found.step)),
            tr("The same settings gave different bits, so part of what this page shows is "
               "nondeterminism of the computation.") +
                u'\n' + again);
    }
}

void TwinBadge::refresh() {
    const auto own = config();
    setEnabled(own.has_value() || checking());
    if (checking()) {
        return setStatus({},
                    tr("checking step %1 of %2").arg(count(check_.progress()), count(limits_.steps)),
                    tr("Click to end the check."));
    }
    if (!own) return setStatus({}, tr("No check"), tr("Some settings are invalid."));
    if (const auto seen = shown()) return showResult(*seen);
    if (checked_ == own) return showResult(found_);
    const QString title = precisionTitle(own->precision);
    setStatus({}, tr("Check %1 beside %1").arg(title),
         tr("Trains %1 beside %1 for up to %2 steps and compares all bits. Only if they are equal "
            "is the difference that a twin shows due to rounding. Training waits for it; nothing "
            "is saved.")
             .arg(title, count(limits_.steps)));
}

}  // namespace ui
