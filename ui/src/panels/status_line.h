#pragma once

#include <QElapsedTimer>
#include <QLabel>
#include <QProgressBar>
#include <QTimer>
#include <QWidget>

#include "engine/event.h"
#include "view/context.h"

namespace ui {

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

    Context context_;
    QLabel* phase_;
    QProgressBar* bar_;
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

}  // namespace ui
