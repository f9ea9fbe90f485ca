#pragma once

#include <QTimer>
#include <QToolButton>
#include <functional>
#include <memory>
#include <optional>

#include "twin/bit_check.h"
#include "twin/twin_model.h"
#include "view/context.h"

namespace ui {

/// Whether two runs of one precision have the same bits; otherwise a twin would show the engine's
/// own noise. Shows the result of the last check, and checks on a click. If the twin on screen is
/// such a pair, shows its result. GUI thread.
class TwinBadge final : public QToolButton {
    Q_OBJECT
public:
    using Checker = std::function<BitCheck(const engine::RunConfig&, const engine::RunConfig&,
                                           const BitCheckLimits&, BitCheckProgress&)>;

    TwinBadge(const Context& context, TwinModel* model, QWidget* parent = nullptr,
              Checker checker = checkBits);
    ~TwinBadge() override;

    bool checking() const { return progress_ != nullptr; }

private:
    void toggle();
    void start();
    void take(const BitCheck& found);
    void refresh();
    void tell(const QString& tone, const QString& text, const QString& tip);
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
    std::shared_ptr<BitCheckProgress> progress_;  ///< of a check that runs; null: none
    std::optional<engine::RunConfig> checked_;    ///< what found_ is about
    BitCheck found_;
    QTimer timer_;
};

}  // namespace ui
