#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/verdict/what_if.h"
#include "plots/plot_content.h"
#include "view/context.h"

class QMenu;

namespace ui {

class RunTrack;
struct Tokens;

/// The title of a policy of engine::usual_policies(): "Static 2¹⁰", "Production".
QString policyTitle(const std::string& policy);

/// Another policy of the loss scale replayed over the selected run, as curves for the plot of the
/// loss scale. Steps with an unknown outcome are a separate curve. Replays in the background, again
/// while the run grows. GUI thread.
class WhatIfCurves final : public QObject {
    Q_OBJECT
public:
    explicit WhatIfCurves(const Context& context, QObject* parent = nullptr);
    ~WhatIfCurves() override;

    /// A submenu that chooses the policy, its growth interval and its initial scale.
    void addMenu(QMenu* menu);
    /// Policy that is replayed; empty: none.
    const std::string& policy() const { return policy_; }
    void choose(const std::string& policy);
    /// Replaces the policy's own interval; 0: the policy's own.
    void setGrowthInterval(std::int64_t steps);
    void setInitialScale(double scale);

    /// Adds the curves of the replay, if there is one.
    void addTo(PlotContent& content, const Tokens& tokens) const;
    /// One sentence on the replay; empty without one.
    QString sentence() const;

signals:
    void changed();

private:
    struct Replay;
    std::optional<engine::ScalePolicy> wanted() const;
    void endWithItsRuns();
    void refresh();
    void take(std::shared_ptr<const Replay> replay);

    Context context_;
    std::string policy_;
    std::vector<std::weak_ptr<RunTrack>> chosenFor_;  ///< on screen when it was chosen
    std::int64_t interval_ = 0;
    double initial_ = 0;
    std::shared_ptr<const Replay> replay_;
    bool busy_ = false;
    bool again_ = false;  ///< something changed while it replayed
};

}  // namespace ui
