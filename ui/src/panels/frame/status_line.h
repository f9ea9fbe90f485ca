#pragma once

#include <QElapsedTimer>
#include <QLabel>
#include <QProgressBar>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <vector>

#include "engine/record/event.h"
#include "engine/runs/followed_run.h"
#include "text/format.h"
#include "view/context.h"

namespace ui {

class RunTrack;

/// Phase, progress, time left, step time, throughput, CPU, memory and when the record was last
/// written. A narrow line leaves out memory first, then CPU, throughput, step time and the record.
class StatusLine final : public QWidget {
    Q_OBJECT
public:
    explicit StatusLine(const Context& context, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void fit();
    void refreshMachine();
    engine::RunState state() const;
    bool running() const;
    QString phase() const;
    static QString whereText(const engine::RunProcess& writer);

    Context context_;
    QLabel* phase_;
    QProgressBar* bar_;
    mutable TimeLeft reading_;
    QLabel* left_;
    QLabel* stepTime_;
    QLabel* speed_;
    QLabel* load_;
    QLabel* memory_;
    QLabel* saved_;
    QTimer machine_;
    QElapsedTimer wall_;
    double cpuBefore_ = 0;
};

/// The run that the status line describes in this state of all runs: the one in that state, for
/// another may be some steps behind it; else that of the counters.
std::shared_ptr<RunTrack> trackInState(const std::vector<std::shared_ptr<RunTrack>>& tracks,
                                       engine::RunState state);

}  // namespace ui
