#pragma once

#include <QString>
#include <QToolButton>
#include <cstdint>
#include <functional>
#include <optional>

#include "engine/settings/run_config.h"
#include "feed/background_task.h"
#include "twin/twin_model.h"
#include "view/context.h"

namespace ui {

/// The result of training two settings in lockstep, compared bit for bit.
struct BitCheck {
    std::int64_t steps = 0;  ///< compared
    std::int64_t step = 0;   ///< of the first difference; 0: there is none
    QString tensor = {};     ///< the first that differs in it, in the order of computation
    QString problem = {};    ///< why nothing was compared; empty: something was

    bool identical() const { return problem.isEmpty() && steps > 0 && step == 0; }
};

/// A check ends at either.
struct BitCheckLimits {
    std::int64_t steps = 100;
    double seconds = 20;
};

/// Its progress is the step.
using BitCheckTask = BackgroundTask<std::int64_t, BitCheck>;

/// Trains both from the start in lockstep. Compares the loss, loss scale and gradient norm of each
/// step bit for bit, and the gradients of each layer value by value if the step was not skipped.
/// Keeps nothing. Blocks until the end, or until it is stopped: not for the GUI thread. Throws
/// engine::Error.
BitCheck checkBits(const engine::RunConfig& reference, const engine::RunConfig& other,
                   const BitCheckLimits& limits, BitCheckTask::Link& link);

/// Whether two runs of one precision have the same bits; otherwise a twin would show the engine's
/// own noise. Shows the result of the last check, and checks on a click. If the twin on screen is
/// such a pair, shows its result. GUI thread.
class TwinBadge final : public QToolButton {
    Q_OBJECT
public:
    using Checker = std::function<BitCheck(const engine::RunConfig&, const engine::RunConfig&,
                                           const BitCheckLimits&, BitCheckTask::Link&)>;

    TwinBadge(const Context& context, TwinModel* model, QWidget* parent = nullptr,
              Checker checker = checkBits);

    bool checking() const { return check_.running(); }

private:
    void toggle();
    void start();
    void take(const Outcome<BitCheck>& outcome);
    void refresh();
    void setStatus(const QString& tone, const QString& text, const QString& tip);
    void showResult(const BitCheck& found);
    /// The settings to check: the reference of the twin on screen, else of the next one.
    std::optional<engine::RunConfig> config() const;
    /// The result that the twin on screen shows by itself; nothing if its halves differ in their
    /// settings.
    std::optional<BitCheck> shown() const;

    Context context_;
    TwinModel* model_;
    Checker checker_;
    BitCheckLimits limits_;
    std::optional<engine::RunConfig> checked_;  ///< what found_ is about
    BitCheck found_;
    BitCheckTask check_;
};

}  // namespace ui
