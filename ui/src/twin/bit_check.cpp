#include "twin/bit_check.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "engine/base/error.h"
#include "engine/session/session.h"
#include "text/language.h"

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

    void run(std::int64_t steps, double seconds, BitCheckProgress& progress) {
        QElapsedTimer time;
        time.start();
        for (const auto& session : sessions_) session->post(engine::Command::start);
        while (!ended(reference()) || !ended(other())) {
            (ended(reference()) ? other() : reference()).wait(lookEvery);
            progress.step = std::min(reference().record().size(), steps);
            if (progress.stop || static_cast<double>(time.elapsed()) > 1e3 * seconds) {
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
                   const BitCheckLimits& limits, BitCheckProgress& progress) {
    try {
        const std::int64_t steps =
            std::min(stepsOf(reference, limits.steps), stepsOf(other, limits.steps));
        Pair pair(shortened(reference, steps), shortened(other, steps));
        pair.run(steps, limits.seconds, progress);
        return pair.compare(steps);
    } catch (const engine::Error& error) {
        return {.tensor = {},
                .problem = joined({engineText(error.message()), engineText(error.hint())})};
    } catch (const std::exception& error) {
        return {.tensor = {}, .problem = QString::fromUtf8(error.what())};
    }
}

}  // namespace ui
